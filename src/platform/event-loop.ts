// Says whether the event loop is late. Not by monitorEventLoopDelay, which discards the interval after a reset
// (docs/decisions/0020-libraries-tried.md).

interface LatenessOptions {
  /** A tick is late if it comes later than this after its time. */
  readonly maxDelayMs: number
  /** How many ticks in a row must be late. One long step, such as a garbage collection, makes only one tick late. */
  readonly ticks?: number
  readonly tickMs?: number
}

export function watchEventLoop({ maxDelayMs, ticks = 1, tickMs = 50 }: LatenessOptions): () => boolean {
  let late = 0
  let lastTick = performance.now()
  setInterval(() => {
    const now = performance.now()
    late = now - lastTick - tickMs > maxDelayMs ? late + 1 : 0
    lastTick = now
  }, tickMs).unref()
  return () => late >= ticks
}
