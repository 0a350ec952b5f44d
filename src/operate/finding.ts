// What a check of `outbreakctl doctor` found, and what to do about it.

export type Finding = {
  readonly check: string
  readonly status: 'ok' | 'warning' | 'error'
  readonly message: string
  /** What the operator can do. */
  readonly remedy?: string
}

/** The findings of one check, under its name. */
export const findingsOf = (check: string) => ({
  ok: (message: string): Finding => ({ check, status: 'ok', message }),
  warning: (message: string, remedy: string): Finding => ({ check, status: 'warning', message, remedy }),
  error: (message: string, remedy: string): Finding => ({ check, status: 'error', message, remedy }),
})
