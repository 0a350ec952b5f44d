// A small second dataset, for tests only. Its names differ from outbreaks wherever a dataset can choose them.
import { hash } from 'node:crypto'
import {
  boolean,
  choice,
  date,
  defineDataset,
  derived,
  faceted,
  filterable,
  integer,
  object,
  optional,
  text,
} from '../../../src/datasets/define.ts'

export const wastewater = defineDataset({
  name: 'wastewater',
  resource: 'samples',
  recordName: 'WastewaterSample',
  title: 'Wastewater surveillance',
  description: 'One sample of wastewater: how many copies of a gene were found in it.',
  table: 'wastewater_sample',
  scope: 'wastewater:read',
  summarisesEvents: false,
  series: {
    id: 'line',
    kind: 'counting',
    begins: 'sampled_from',
    day: 'sampled_to',
    reported: 'published',
    counts: ['copies'],
    breakFlag: 'line_break',
    fields: ['event', 'plant', 'counting'],
    comparison: { separate: ['counting'], addable: ['event'], parts: [] },
  },
  periods: [{ name: 'sampled', description: 'the days of sampling', first: 'sampled_from', last: 'sampled_to' }],
  content: {
    event: faceted(text('Name of the campaign.')),
    plant: faceted(text('Treatment plant.')),
    counting: faceted(choice('What the copies are.', ['new', 'cumulative', 'period_to_date', 'point'])),
    sampled_from: optional(date('First day of sampling.')),
    sampled_to: optional(date('Last day of sampling.')),
    published: optional(date('Day of publication.')),
    copies: optional(integer('Copies of the gene.')),
    line: filterable(
      derived(text('One comparable series.'), {
        from: ['event', 'plant', 'counting'],
        compute: (values) => hash('sha256', JSON.stringify(values)).slice(0, 12),
      }),
    ),
    line_break: boolean('True where a cumulative count decreased.'),
    source_name: faceted(text('Laboratory.')),
    remark: optional(text('Remark.')),
    more: object('Other fields of the laboratory.'),
  },
  rules: [
    {
      name: 'days_in_order',
      severity: 'error',
      column: 'sampled_to',
      check: (valueOf) =>
        String(valueOf('sampled_to') ?? '9') < String(valueOf('sampled_from') ?? '0') ? 'is before sampled_from' : null,
    },
  ],
})
