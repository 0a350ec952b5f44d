// The progress line of a long command, rewritten in place. It is shown only at a terminal.
import { escapeControls } from './escape-controls.ts'

/** `done` and `total` count the same unit; `total` is null if it is unknown. */
export type Progress = (step: string, done: number, total: number | null) => void

interface ProgressLine {
  update: Progress
  /** Removes the line before other output is written. */
  clear(): void
}

const REDRAW_INTERVAL_MS = 100
const CLEAR_LINE = '\r\u001b[2K'

export function createProgress(stream: NodeJS.WriteStream): ProgressLine {
  let stepStart: { step: string; done: number; at: number } | undefined
  let drawnAt = 0
  return {
    update(step, done, total) {
      if (!stream.isTTY) return
      const now = performance.now()
      if (stepStart?.step !== step) stepStart = { step, done, at: now }
      else if (now - drawnAt < REDRAW_INTERVAL_MS) return
      drawnAt = now
      const rate = now > stepStart.at ? ((done - stepStart.done) / (now - stepStart.at)) * 1000 : 0
      const line = escapeControls(formatProgress({ step, done, total, rate }))
      // CLEAR_LINE clears one line only, so the text must not wrap.
      stream.write(CLEAR_LINE + line.slice(0, (stream.columns || 80) - 1))
    },
    clear() {
      if (stepStart !== undefined) stream.write(CLEAR_LINE)
      stepStart = undefined
    },
  }
}

interface ProgressState {
  step: string
  done: number
  total: number | null
  /** Units per second; 0 while it is unknown. */
  rate: number
}

const BAR_WIDTH = 24
const compactNumber = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function formatProgress({ step, done, total, rate }: ProgressState): string {
  const speed = rate > 0 ? [`${compactNumber.format(rate)}/s`] : []
  if (total === null || total === 0)
    return [step, ...(done > 0 ? [compactNumber.format(done)] : []), ...speed].join('  ')
  // `total` may be an estimate that is too low.
  const fraction = Math.min(1, done / total)
  const filled = Math.round(fraction * BAR_WIDTH)
  const remaining = rate > 0 && fraction < 1 ? [`${formatSeconds((total - done) / rate)} left`] : []
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  return [step, bar, `${String(Math.floor(fraction * 100)).padStart(3)} %`, ...speed, ...remaining].join('  ')
}

function formatSeconds(seconds: number): string {
  const total = Math.ceil(seconds)
  const pad = (number: number) => String(number).padStart(2, '0')
  const hours = Math.floor(total / 3600)
  const minutes = Math.floor(total / 60) % 60
  return hours > 0 ? `${hours}:${pad(minutes)}:${pad(total % 60)}` : `${minutes}:${pad(total % 60)}`
}
