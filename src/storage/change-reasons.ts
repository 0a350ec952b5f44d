// The reasons for which the operator adds, corrects or withdraws a record: a closed list of codes.
export const CHANGES = ['added', 'corrected', 'withdrawn'] as const
export type ChangeKind = (typeof CHANGES)[number]

export const CHANGE_REASONS = [
  'new_report',
  'late_report',
  'source_revised',
  'reclassified',
  'entry_error',
  'duplicate',
  'retracted_by_source',
  'identity_changed',
  'method_changed',
  'release_withdrawn',
  'unspecified',
] as const
export type Reason = (typeof CHANGE_REASONS)[number]

type ReasonsByKind = { readonly [kind in ChangeKind]?: Reason }
/** One reason for each kind of change. An event can have its own reasons. */
export type Reasons = ReasonsByKind & { readonly events?: { readonly [event: string]: ReasonsByKind } }

export const reasonOf = (reasons: Reasons, kind: ChangeKind, event: string): Reason =>
  reasons.events?.[event]?.[kind] ?? reasons[kind] ?? 'unspecified'
