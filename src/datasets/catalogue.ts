// The list of published datasets.
import type { Dataset } from './define.ts'
import { hedOutbreaks } from './hed-outbreaks.ts'

export const catalogue: readonly Dataset[] = [hedOutbreaks]
