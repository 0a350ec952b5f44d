// The seven tools, in the order in which an assistant reads about them.
import { cite } from './cite.ts'
import { count } from './count.ts'
import { curve } from './curve.ts'
import { describeEvent } from './describe-event.ts'
import { records } from './records.ts'
import { search } from './search.ts'
import type { Tool } from './tool.ts'
import { whatChanged } from './what-changed.ts'

export const TOOLS: readonly Tool[] = [search, describeEvent, count, curve, whatChanged, records, cite]
