// Text from outside at a terminal: headers of files, file names, names of events. Control characters can hide an error, rename
// the window or reverse the reading direction, so they are shown as \uXXXX and not sent.

const CONTROLS = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu
const CONTROLS_IN_LINES = /(?!\n)[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu

const toEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** For one line of text. */
export const escapeControls = (text: string): string => text.replace(CONTROLS, toEscape)

/** Keeps the ends of lines. In JSON the escapes mean the same characters. */
export const escapeInLines = (text: string): string => text.replace(CONTROLS_IN_LINES, toEscape)
