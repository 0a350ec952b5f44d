// The list of releases of a dataset and their metadata, from memory without a database query. Metadata can change: files are
// exported after a release is published, and a release can be pruned.
import { Type } from 'typebox'
import { encodeTable } from '../../formats/table.ts'
import type { HttpServer } from '../../platform/http/http-server.ts'
import { CHANGE_REASONS } from '../../storage/change-reasons.ts'
import type { PublishedRelease } from '../../storage/published-releases.ts'
import { startPaging } from '../paging/cursor.ts'
import { LATEST } from '../paging/release-reference.ts'
import { DEFAULT_NUM, emptyQuery, releasePath, releasesQuery } from '../requests/parameters.ts'
import type { ResourceOptions } from '../requests/resource-options.ts'
import { formatRelease, serialiseEnvelope, serialiseRelease } from '../response/json-body.ts'
import { prerendered } from '../response/responder.ts'
import {
  errorResponses,
  errorResponsesWithNotFound,
  okResponse,
  pageResponse,
  withFiles,
} from '../response/response-schemas.ts'
import { chooseFormat, FORMAT_VARY, rejectPaging, TABLE_TYPES, wantsTable } from '../response/table-response.ts'
import { linkDescriptions } from './descriptions.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })
const reasonSchema = Type.Optional(Type.Enum([...CHANGE_REASONS]))
const reasonsByKind = { added: reasonSchema, corrected: reasonSchema, withdrawn: reasonSchema }
const releaseSchema = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Releases are numbered from 1 in the order of publication.' }),
  title: Type.String(),
  licence: Type.String({ description: 'The licence of the data.' }),
  note: Type.Union([Type.String(), Type.Null()], { description: 'A note by the publisher.' }),
  published_at: Type.String({ format: 'date-time', description: 'UTC, to the millisecond.' }),
  as_of: Type.String({
    format: 'date',
    description:
      'The day up to which the data is known, UTC. A date as a release reference means the latest release with this day or an earlier one. A rollback has the day of the release that it restores.',
  }),
  restores: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The earlier release that a rollback restored; the releases in between are withdrawn.',
  }),
  pruned_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
    description: 'When the release was pruned, so that its records can no longer be read; null if it was not.',
  }),
  records: count('Records in the release.'),
  added: count('Records that the previous release does not contain.'),
  corrected: count('Records that differ from the previous release.'),
  withdrawn: count('Records of the previous release that this one does not contain.'),
  rejected: count(
    'Rows of the input that were rejected because of errors. A published record with the key of such a row stays unchanged.',
  ),
  reasons: Type.Object(
    { ...reasonsByKind, events: Type.Optional(Type.Record(Type.String(), Type.Object(reasonsByKind))) },
    { description: 'Why records were added, corrected and withdrawn. `events` has different reasons for some events.' },
  ),
  preferred: Type.Record(
    Type.String(),
    Type.Record(Type.String(), Type.Union([Type.String(), Type.Boolean(), Type.Null()])),
    {
      description:
        'How the publisher prefers an event to be counted, by event: values of fields such as `case_status`. It wins over the rule for recommended answers.',
    },
  ),
  warnings: Type.Record(Type.String(), Type.Integer(), {
    description: 'The number of warnings by validation rule.',
  }),
  digest: Type.String({
    pattern: '^[0-9a-f]{64}$',
    description:
      'SHA-256 of the concatenated SHA-256 digests of every hundred ids (1 to 100, 101 to 200, …). The input of each is the records as lines, each with a line end. A hundred without records has no digest.',
  }),
  files: Type.Array(
    Type.Object({
      name: Type.String(),
      media_type: Type.String(),
      records: count('Records in the file: all records of the release.'),
      bytes: count('Size of the file in bytes.'),
      sha256: Type.String({ description: 'SHA-256 of the file, in hexadecimal digits; the `ETag` of the download.' }),
      href: Type.String({ format: 'uri', description: 'The URL of the download.' }),
    }),
    { description: 'The complete release as files. Empty until the files have been exported.' },
  ),
})

export function registerReleaseRoutes(app: HttpServer, routes: ResourceOptions): void {
  const { dataset, cursorKey, releases, respond } = routes
  const path = `/v2/${dataset.name}/releases`
  const releasesUrl = `${routes.baseUrl}${path}`

  app.get(
    path,
    {
      schema: {
        tags: ['Data'],
        operationId: 'listReleases',
        summary: 'List releases',
        description:
          'All releases, the latest first. Paging lists the releases that existed when it started. `Outbreaks-Release` is the latest of them. As `text/csv`: a line for each release, without pages and without the files.',
        querystring: releasesQuery,
        response: { 200: withFiles(pageResponse(releaseSchema, 'Releases'), TABLE_TYPES), ...errorResponses },
      },
    },
    async (request, reply) => {
      if (wantsTable(request)) {
        rejectPaging(request.query, TABLE_TYPES[0])
        const release = await releases.resolveParameter('release', undefined)
        const { format, columns } = chooseFormat(request, dataset.name, release, 'releases')
        const table = encodeTable(releases.list().toReversed().map(toRow), [], columns)
        return respond(request, reply, { release, isImmutable: false, ...format, ...prerendered([table]) })
      }
      const { page, num = DEFAULT_NUM } = request.query
      const { cursor, nextPage } = startPaging(cursorKey, path, page)
      // The list includes pruned releases, so paging can start on one that is pruned later.
      const latest = await (cursor === undefined
        ? releases.resolveParameter('page', undefined)
        : releases.resolveIssued(cursor.release))
      const first = cursor?.fromId ?? latest.number
      const remaining = releases
        .list()
        .filter((release) => release.number <= first)
        .toReversed()
      const serialised = remaining.slice(0, num).map((release) => serialiseRelease(release, releasesUrl))
      const next = nextPage({ release: latest.number, fromId: remaining[num]?.number ?? null })
      return respond(request, reply, {
        release: latest,
        isImmutable: false,
        vary: FORMAT_VARY,
        ...prerendered(serialiseEnvelope(serialised, next)),
      })
    },
  )

  app.get<{ Params: { number: string } }>(
    `${path}/:number`,
    {
      schema: {
        tags: ['Data'],
        operationId: 'getRelease',
        summary: 'Read the metadata of a release',
        description:
          '`number` is the number of a release, in decimal digits, or `latest` for the latest release. `Content-Location` is the URL of the release with its number. `Link` names its descriptions in Croissant, as a data package and in DCAT, if it has files.',
        params: releasePath,
        querystring: emptyQuery,
        response: { 200: okResponse(releaseSchema, 'The release.'), ...errorResponsesWithNotFound },
      },
    },
    async (request, reply) => {
      const { number } = request.params
      const release = await (number === LATEST
        ? releases.resolveParameter('release', LATEST)
        : releases.resolveNumber(number))
      const releaseUrl = `${releasesUrl}/${release.number}`
      if (number === LATEST) reply.header('content-location', releaseUrl)
      if (release.files.length > 0) reply.header('link', linkDescriptions(releaseUrl))
      return respond(request, reply, {
        release,
        isImmutable: false,
        ...prerendered([serialiseRelease(release, releasesUrl)]),
      })
    },
  )
}

/** A release as a line of CSV. Without what differs from release to release: reasons by event, warnings and files. */
const toRow = (release: PublishedRelease) => ({ ...formatRelease(release), digest: release.digest })
