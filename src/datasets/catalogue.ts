// What this service publishes: one line a dataset.
import type { Dataset } from './define.ts'
import { hedOutbreaks } from './hed-outbreaks.ts'

export const catalogue: readonly Dataset[] = [hedOutbreaks]
