// Goals 6 and 7: a page from the cache of the service, compared with the service without tokens and with servers that only
// send the same bytes.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { load, openConnection } from '../client.ts'
import { startChild } from '../contenders/child.ts'
import { findNginx, startNginx } from '../contenders/nginx.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { startServer } from '../target.ts'

const CLIENTS = 4
const contenders = path.resolve(import.meta.dirname, '../contenders')

export async function measureCachedPages({ cached, options, store, scratch }: Stage): Promise<Measurements> {
  const request = cached.get(PAGES_PATH, 'gzip')
  const file = path.join(scratch, 'page.json')
  const connection = openConnection(cached.address, { keepBody: true })
  await writeFile(file, await connection.send(request), { mode: 0o644 })
  connection.close()

  const program = findNginx()
  const nginx = program === null ? null : await startNginx(program, file, scratch)
  const bareHttp = await startChild({
    program: process.execPath,
    args: (port) => [path.join(contenders, 'bare-http.ts'), String(port), file],
  })
  const unguarded = await startServer(store, {}, path.join(contenders, 'unguarded-service.ts'))
  const measureRate = (address: string) => async () =>
    (await load(address, () => request, { connections: CLIENTS, duration: options.seconds })).perSecond
  try {
    const measured = await measureInTurns(options.rounds, {
      service: measureRate(cached.address),
      unguarded: measureRate(unguarded.address),
      bare: measureRate(bareHttp.address),
      nginx: nginx === null ? async () => Number.NaN : measureRate(nginx.address),
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
    for (const contender of [bareHttp, unguarded, nginx]) await contender?.stop()
  }
}
