// Goal 9: a page from the cache of the service, compared with servers that only send the same bytes.
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { openConnection } from '../client.ts'
import { type Contender, startChild } from '../contenders/child.ts'
import { findNginx, startNginx } from '../contenders/nginx.ts'
import { figure, type Measurements, result } from '../goal.ts'
import { measureInTurns, ratios } from '../measure.ts'
import { PAGES_PATH } from '../pages.ts'
import type { Stage } from '../stage.ts'
import { cpuMsOf, measureRate, perSecondOf, type Rate } from '../usage.ts'

const CLIENTS = 4
const contenders = path.resolve(import.meta.dirname, '../contenders')

export async function measureCachedPages({ cached, options, scratch }: Stage): Promise<Measurements> {
  const page = cached.get(PAGES_PATH, 'gzip')
  const file = path.join(scratch, 'page.json')
  const connection = openConnection(cached.address, { keepBody: true })
  await writeFile(file, await connection.send(page), { mode: 0o644 })
  connection.close()

  const program = findNginx()
  const nginx = program === null ? null : await startNginx(program, file, scratch)
  const bareHttp = await startChild({
    program: process.execPath,
    args: (port) => [path.join(contenders, 'bare-http.ts'), String(port), file],
  })
  const request = (server: Contender) => () =>
    measureRate(server, () => page, { connections: CLIENTS, duration: options.seconds })
  const unknown = async (): Promise<Rate> => ({ perSecond: Number.NaN, cpuMs: Number.NaN })
  try {
    const measured = await measureInTurns(options.rounds, {
      service: request(cached),
      bare: request(bareHttp),
      nginx: nginx === null ? unknown : request(nginx),
    })
    const rateRatio = (name: keyof typeof measured) =>
      ratios(perSecondOf(measured.service), perSecondOf(measured[name]))
    return {
      results: [
        result(
          '9',
          'cached gzip page / the same bytes by node:http, pages for a second of CPU',
          { atLeast: 0.5 },
          ratios(cpuMsOf(measured.bare), cpuMsOf(measured.service)),
        ),
        result('9b', 'the same, pages in a second', null, rateRatio('bare')),
        ...(nginx === null
          ? []
          : [result('9c', 'cached gzip page / a file by nginx, pages in a second', null, rateRatio('nginx'))]),
      ],
      figures: [
        figure('service: cached gzip page', 'pages/s', perSecondOf(measured.service)),
        figure('service: CPU for a cached gzip page', 'ms', cpuMsOf(measured.service)),
        figure('node:http: the same bytes', 'pages/s', perSecondOf(measured.bare)),
        figure('node:http: CPU for the same bytes', 'ms', cpuMsOf(measured.bare)),
        ...(nginx === null ? [] : [figure('nginx: the same bytes as a file', 'pages/s', perSecondOf(measured.nginx))]),
      ],
      skipped: nginx === null ? [{ goal: '9c', reason: 'nginx is not installed' }] : [],
    }
  } finally {
    for (const contender of [bareHttp, nginx]) await contender?.stop()
  }
}
