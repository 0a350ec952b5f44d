// The pictures of the documentation, each as SVG. `npm run generate` writes them to docs/images/concepts.
import { arrow, bar, box, line, picture, type Tone, write } from './svg.ts'

/** How a release is made, and read. */
const drawRelease = () =>
  picture(
    860,
    190,
    'Tables are checked, compared with the last release, and published as the next release, which clients read.',
    [
      box([20, 60, 130, 70], ['your tables', 'CSV, NDJSON,', 'Parquet']),
      arrow(150, 95, 190, 95),
      box([190, 60, 130, 70], ['check', 'every cell,', 'file and line']),
      arrow(320, 95, 360, 95),
      box([360, 60, 130, 70], ['compare', 'added, corrected,', 'withdrawn']),
      arrow(490, 95, 530, 95),
      ...[1, 2, 3].map((n) => box([530 + (n - 1) * 62, 60, 54, 70], [String(n)], { tone: n === 3 ? 'good' : 'quiet' })),
      write(619, 48, 'releases: numbered, complete, never changed', 'small'),
      arrow(716, 95, 746, 95),
      box([746, 60, 100, 70], ['readers', 'pages, files,', 'sums']),
      write(425, 160, 'in one transaction: a reader sees the old release or the new one, never half of it', 'small'),
    ],
  )

/** Pages while data changes: by offset from a table, and from a release. */
function drawWalk(): string {
  const rows = (y: number, pages: readonly (readonly [string, Tone])[]) =>
    pages.map(([text, tone], i) => box([170 + i * 170, y, 150, 50], [text], { tone }))
  return picture(
    860,
    290,
    'Reading pages while data changes: elsewhere a record is lost, here all pages are of one release.',
    [
      write(20, 40, 'elsewhere', 'strong', 'start'),
      write(20, 60, 'offset in a table', 'small', 'start'),
      write(20, 78, 'that changes', 'small', 'start'),
      ...rows(30, [
        ['A B C', 'plain'],
        ['D E F', 'plain'],
        ['H I J', 'bad'],
        ['K L M', 'plain'],
      ]),
      write(585, 104, 'G was never read', 'small'),
      line(500, 14, 500, 240, true),
      write(500, 260, 'B is deleted; a new release is published', 'small'),
      write(500, 278, 'between the second and the third page', 'small'),
      write(20, 160, 'here', 'strong', 'start'),
      write(20, 180, 'all pages are', 'small', 'start'),
      write(20, 198, 'of release 5', 'small', 'start'),
      ...rows(150, [
        ['A B C', 'good'],
        ['D E F', 'good'],
        ['G H I', 'good'],
        ['J K L', 'good'],
      ]),
      write(605, 222, 'a reader who starts now gets release 6', 'small'),
    ],
  )
}

/** Record 2227 of the sample: COVID-19 in the United States up to 2020-04-03. docs/releases.md shows the same numbers. */
const drawRecord = () =>
  picture(
    860,
    200,
    'Record 2227 of the sample through the releases: absent in 1, 276,535 cases in 2, 288,885 in 3, 289,116 from 4 on.',
    [
      write(20, 30, 'record 2227: COVID-19 in the United States, all cases up to 2020-04-03', 'strong', 'start'),
      ...[1, 2, 3, 4, 5, 6].map((n) => write(90 + (n - 1) * 136, 66, `release ${n}`, 'small')),
      box([30, 80, 120, 56], ['absent'], { tone: 'quiet' }),
      box([166, 80, 120, 56], ['276,535', 'new_report'], { style: 'number' }),
      box([302, 80, 120, 56], ['288,885', 'source_revised'], { style: 'number' }),
      box([438, 80, 392, 56], ['289,116', 'source_revised, then unchanged'], { style: 'number' }),
      write(430, 172, 'Each release still gives its own number. The history of the record lists all of them.', 'small'),
    ],
  )

/** What may be added up. */
const drawSums = () =>
  picture(860, 250, 'Counties of one source may be added up. A state and its counties, or two sources, may not.', [
    ...['county A: 12', 'county B: 7', 'county C: 5'].map((text, i) => box([20, 40 + i * 56, 120, 44], [text])),
    arrow(140, 118, 180, 118),
    box([180, 90, 90, 56], ['24', 'new cases'], { tone: 'good' }),
    write(145, 232, 'one source, one level: added up', 'small'),
    box([320, 40, 120, 44], ['state: 24']),
    box([320, 96, 120, 44], ['county A: 12']),
    box([320, 152, 120, 44], ['county B: 7']),
    arrow(440, 118, 480, 118),
    box([480, 90, 110, 56], ['rejected', '43 is too many'], { tone: 'bad' }),
    write(445, 232, 'a place and its parts', 'small'),
    box([620, 60, 110, 50], ['WHO: 422']),
    box([620, 130, 110, 50], ['a paper: 420']),
    arrow(730, 118, 760, 118),
    box([760, 90, 86, 56], ['rejected', 'side by side'], { tone: 'bad' }),
    write(735, 232, 'two sources, the same people', 'small'),
  ])

/** The digest of a release. */
const drawDigest = () =>
  picture(
    860,
    190,
    'Records are hashed in groups of a hundred ids; the hashes of the groups are hashed to the digest of the release.',
    [
      ...['1 … 100', '101 … 200', '201 … 300'].map((ids, i) =>
        [
          box([20, 20 + i * 56, 170, 44], ['records', ids]),
          arrow(190, 42 + i * 56, 300, 42 + i * 56),
          box([300, 20 + i * 56, 150, 44], ['SHA-256', 'of the group']),
          arrow(450, 42 + i * 56, 560, 98),
        ].join(''),
      ),
      box([560, 66, 170, 64], ['one digest', 'of the release'], { tone: 'good', style: 'number' }),
      write(645, 160, 'one altered byte gives another digest', 'small'),
    ],
  )

/** COVID-19 in France, 2020-11-03 to 05, as Johns Hopkins University published it: the sample has these records. */
function drawFall(): string {
  const totals = [
    ['3 Nov', 1_597_139],
    ['4 Nov', 1_549_838],
    ['5 Nov', 1_607_147],
  ] as const
  const height = (total: number) => (total - 1_500_000) / 900
  return picture(860, 260, 'A total that falls and rises again: the fall is a break, and the rebound is no wave.', [
    write(20, 30, 'totals as published', 'strong', 'start'),
    ...totals.flatMap(([day, total], i) => [
      bar(40 + i * 120, 200 - height(total), 70, height(total), i === 1 ? 'bad' : 'plain'),
      write(75 + i * 120, 192 - height(total), total.toLocaleString('en'), 'small number'),
      write(75 + i * 120, 220, day, 'small'),
    ]),
    line(30, 200, 380, 200),
    write(205, 246, 'COVID-19 in France, 2020 (axis from 1,500,000)', 'small'),
    arrow(400, 120, 460, 120),
    write(500, 30, 'what it means', 'strong', 'start'),
    box([500, 50, 150, 60], ['−47,301', 'is not people'], { tone: 'bad', style: 'number' }),
    box([670, 50, 170, 60], ['+57,309', 'is not a wave'], { tone: 'bad', style: 'number' }),
    box([500, 140, 340, 60], ['+10,008 over both days', 'a dip and its rebound are counted once'], {
      tone: 'good',
      style: 'number',
    }),
    write(670, 220, 'and the days are marked as a revision', 'small'),
  ])
}

/** A deployment. */
const drawDeployment = () =>
  picture(
    860,
    270,
    'Clients reach two nodes through a balancer with TLS; the nodes read PostgreSQL, Redis and the files of releases.',
    [
      box([20, 90, 120, 60], ['clients', 'and browsers']),
      arrow(140, 120, 190, 120),
      box([190, 90, 120, 60], ['balancer', 'TLS, /ready']),
      arrow(310, 105, 370, 75),
      arrow(310, 135, 370, 165),
      box([370, 45, 140, 60], ['node 1', 'column index on disk']),
      box([370, 135, 140, 60], ['node 2', 'column index on disk']),
      ...[75, 165].flatMap((y) => [arrow(510, y, 600, 60), arrow(510, y, 600, 130), arrow(510, y, 600, 200)]),
      box([600, 30, 170, 54], ['PostgreSQL', 'releases, clients, keys']),
      box([600, 103, 170, 54], ['Redis', 'quotas over all nodes'], { tone: 'quiet' }),
      box([600, 176, 170, 54], ['files of releases', 'a disk or a bucket'], { tone: 'quiet' }),
      box([370, 215, 140, 44], ['outbreakctl', 'the operator']),
      arrow(510, 237, 600, 84),
      write(685, 252, 'grey: optional', 'small'),
    ],
  )

/** What a request passes before it is computed: docs/fair-use.md has the rules. */
const drawFairUse = () =>
  picture(
    860,
    190,
    "Requests pass the client's quota, then its concurrency limit, then queues in which clients take turns.",
    [
      box([20, 50, 120, 60], ['a request', 'with a token']),
      arrow(140, 80, 190, 80),
      box([190, 50, 150, 60], ['quota', '6,000 units in 60 s']),
      arrow(340, 80, 390, 80),
      box([390, 50, 150, 60], ['concurrency', '8 on a node']),
      arrow(540, 80, 590, 80),
      box([590, 50, 120, 60], ['queue', 'clients take turns']),
      arrow(710, 80, 750, 80),
      box([750, 50, 96, 60], ['response', '200'], { tone: 'good' }),
      ...[
        [265, '429 quota_exceeded'],
        [465, '429 concurrency_exceeded'],
        [650, '503 overloaded'],
      ].flatMap(([x, text]) => [arrow(Number(x), 110, Number(x), 140), write(Number(x), 160, String(text), 'small')]),
      write(429, 26, 'each client has its own quota and its own limit', 'small'),
    ],
  )

/** Values of docs/performance.md and docs/capacity.md, one bar each, with the longest 500 wide. */
function drawBars(title: string, unit: string, rows: readonly (readonly [name: string, value: number])[]): string {
  const most = Math.max(...rows.map(([, value]) => value))
  return picture(860, 50 + rows.length * 36, title, [
    ...rows.flatMap(([name, value], i) => [
      write(250, 37 + i * 36, name, '', 'end'),
      bar(265, 20 + i * 36, (500 * value) / most, 24, 'plain'),
      write(275 + (500 * value) / most, 37 + i * 36, `${value} ${unit}`, 'small number', 'start'),
    ]),
  ])
}
const drawSpeed = () =>
  drawBars('What a query takes at ten million records: 2.6 ms for a page, up to 199 ms for sums.', 'ms', [
    ['a page of 1,000 records', 2.6],
    ['a filtered page', 19],
    ['an exact count', 20],
    ['20 facets', 113],
    ['sums by country and month', 199],
  ])
const drawSpace = () =>
  drawBars(
    'What ten million records take: 3.8 GB of database, 0.8 GB of files a release, 0.6 GB of memory and 0.4 GB of index a node.',
    'GB',
    [
      ['database', 3.8],
      ['files of a release', 0.8],
      ['memory of a node', 0.63],
      ['index of each node', 0.43],
    ],
  )

export const renderPictures = (): Record<string, string> => ({
  'docs/images/concepts/release.svg': drawRelease(),
  'docs/images/concepts/walk.svg': drawWalk(),
  'docs/images/concepts/record.svg': drawRecord(),
  'docs/images/concepts/sums.svg': drawSums(),
  'docs/images/concepts/digest.svg': drawDigest(),
  'docs/images/concepts/fall.svg': drawFall(),
  'docs/images/concepts/deployment.svg': drawDeployment(),
  'docs/images/concepts/fair-use.svg': drawFairUse(),
  'docs/images/concepts/speed.svg': drawSpeed(),
  'docs/images/concepts/space.svg': drawSpace(),
})
