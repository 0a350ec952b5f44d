// A UUID that follows from some values (RFC 9562, version 8): the same values always have the same.
import { hash } from 'node:crypto'

export function uuidOf(values: readonly unknown[]): string {
  const digits = hash('sha256', JSON.stringify(values))
  const variant = (Number.parseInt(digits.charAt(16), 16) & 3) | 8
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-8${digits.slice(13, 16)}-${variant.toString(16)}${digits.slice(17, 20)}-${digits.slice(20, 32)}`
}
