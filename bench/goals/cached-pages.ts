// Goals 6 and 7: a page the service holds in memory, beside the same without asking for a token, and beside servers that
// send the same bytes and do nothing else.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { load, openConnection } from '../client.ts'
import { startChild } from '../contenders/child.ts'
import { findNginx, startNginx } from '../contenders/nginx.ts'
import { type Findings, figure, result } from '../goal.ts'
import { ratios, takeTurns } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { startServer } from '../target.ts'

const CLIENTS = 4
const contenders = path.resolve(import.meta.dirname, '../contenders')

export async function measureCachedPages({ cached, options, store, scratch }: Stage): Promise<Findings> {
  const request = cached.get(PAGES_PATH, 'gzip')
  const file = path.join(scratch, 'page.json')
  const connection = openConnection(cached.address, { keep: true })
  await writeFile(file, await connection.ask(request), { mode: 0o644 })
  connection.close()

  const program = findNginx()
  const nginx = program === null ? null : await startNginx(program, file, scratch)
  const bare = await startChild({
    program: process.execPath,
    args: (port) => [path.join(contenders, 'bare-http.ts'), String(port), file],
  })
  const unguarded = await startServer(store, {}, path.join(contenders, 'unguarded-service.ts'))
  const ask = (address: string) => async () =>
    (await load(address, () => request, { connections: CLIENTS, goesOn: options.seconds })).perSecond
  try {
    const measured = await takeTurns(options.rounds, {
      service: ask(cached.address),
      unguarded: ask(unguarded.address),
      bare: ask(bare.address),
      nginx: nginx === null ? async () => Number.NaN : ask(nginx.address),
    })
    return {
      results: [
        result('6', 'tokens verified / not verified', { atLeast: 0.95 }, ratios(measured.service, measured.unguarded)),
        result(
          '7',
          'cached gzip page / the same bytes by node:http',
          { atLeast: 0.85 },
          ratios(measured.service, measured.bare),
        ),
        ...(nginx === null
          ? []
          : [result('7b', 'cached gzip page / a file by nginx', null, ratios(measured.service, measured.nginx))]),
      ],
      figures: [
        figure('service: cached gzip page', 'pages/s', measured.service),
        figure('service without tokens: cached gzip page', 'pages/s', measured.unguarded),
        figure('node:http: the same bytes', 'pages/s', measured.bare),
        ...(nginx === null ? [] : [figure('nginx: the same bytes as a file', 'pages/s', measured.nginx)]),
      ],
      skipped: nginx === null ? [{ goal: '7b', reason: 'nginx is not installed' }] : [],
    }
  } finally {
    for (const contender of [bare, unguarded, nginx]) await contender?.stop()
  }
}
