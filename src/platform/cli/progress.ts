// How far a long command is: one line, rewritten in place, for a person at a terminal. Nothing at all for a program.

/** How much of a step is done, in whatever it counts; `total` is null where nobody knows. */
export type Progress = (step: string, done: number, total: number | null) => void

interface ProgressLine {
  update: Progress
  /** Takes the line away, so that something else can be written. */
  clear(): void
}

const REDRAW_MS = 100
const CLEAR_LINE = '\r\u001b[2K'

export function createProgress(stream: NodeJS.WriteStream): ProgressLine {
  let began: { step: string; done: number; at: number } | undefined
  let drawnAt = 0
  return {
    update(step, done, total) {
      if (!stream.isTTY) return
      const now = performance.now()
      if (began?.step !== step) began = { step, done, at: now }
      else if (now - drawnAt < REDRAW_MS) return
      drawnAt = now
      const rate = now > began.at ? ((done - began.done) / (now - began.at)) * 1000 : 0
      const line = formatProgress({ step, done, total, rate })
      // A line that wraps could not be taken away again.
      stream.write(CLEAR_LINE + line.slice(0, (stream.columns || 80) - 1))
    },
    clear() {
      if (began !== undefined) stream.write(CLEAR_LINE)
      began = undefined
    },
  }
}

interface State {
  step: string
  done: number
  total: number | null
  /** A second; 0 where it is not known yet. */
  rate: number
}

const BAR = 24
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function formatProgress({ step, done, total, rate }: State): string {
  const speed = rate > 0 ? [`${compact.format(rate)}/s`] : []
  if (total === null || total === 0) return [step, ...(done > 0 ? [compact.format(done)] : []), ...speed].join('  ')
  // A total may be an estimate that is too low.
  const share = Math.min(1, done / total)
  const filled = Math.round(share * BAR)
  const left = rate > 0 && share < 1 ? [`${formatSeconds((total - done) / rate)} left`] : []
  const bar = '█'.repeat(filled) + '░'.repeat(BAR - filled)
  return [step, bar, `${String(Math.floor(share * 100)).padStart(3)} %`, ...speed, ...left].join('  ')
}

function formatSeconds(seconds: number): string {
  const whole = Math.ceil(seconds)
  const pad = (number: number) => String(number).padStart(2, '0')
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(whole % 60)}` : `${minutes}:${pad(whole % 60)}`
}
