// A rule of the style sheets, as the build gives it to the pictures.

/** What a rule of the style sheets sets: one value, or one for light and one for dark. */
export interface StyleRule {
  /** Empty for any element. */
  readonly element: string
  readonly classes: readonly string[]
  readonly set: Readonly<Record<string, string | readonly [light: string, dark: string]>>
}
