// Why a record was added, corrected or withdrawn: a closed list of codes, said by the operator and read by everyone.
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

type ByKind = { readonly [kind in ChangeKind]?: Reason }
/** For every change of a kind, unless its event says otherwise. */
export type Reasons = ByKind & { readonly events?: { readonly [event: string]: ByKind } }

export const reasonOf = (reasons: Reasons, kind: ChangeKind, event: string): Reason =>
  reasons.events?.[event]?.[kind] ?? reasons[kind] ?? 'unspecified'
