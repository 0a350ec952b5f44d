// The limits of an operator's input, so that a wrong or hostile file gives an error immediately and not a full memory.
// docs/reference/limits.md lists them. The lengths of single fields are in their declarations (datasets/define.ts).

/** Characters of a line of NDJSON or a record of CSV. */
export const MAX_LINE_LENGTH = 1 << 22
/** The widest public tables have a column for each day: 10,000 columns are 27 years. */
export const MAX_COLUMNS = 10_000
/** Bytes of release.json and of a mapping file. */
export const MAX_SETTINGS_BYTES = 1 << 22
/** Levels of nested objects and lists in a line of NDJSON, and in a field such as `extra`. */
export const MAX_LINE_DEPTH = 100
export const MAX_OBJECT_DEPTH = 10
/** Bytes of a record as JSON: the largest page has at most 32 MiB in the memory of a node. hostile-files.test.ts tests both limits. */
export const MAX_RECORD_BYTES = 1 << 15

/** Time to decode 1000 rows of Parquet, the first of which need a whole row group. */
export const PARQUET_TIMEOUT_MS = 60_000
/** Memory of the process while it decodes Parquet, beyond what it had before. */
export const PARQUET_MEMORY_BYTES = 1 << 30
/** What a row group can declare. Programs write groups of 100,000 to a million rows, or of 128 MiB. */
export const PARQUET_GROUP_BYTES = 1 << 29
export const PARQUET_GROUP_CELLS = 1 << 27
