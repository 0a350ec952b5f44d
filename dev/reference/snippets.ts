// How each operation is called from the clients. Every snippet runs in the checks of the documentation.

export interface Snippets {
  readonly python: string
  readonly r: string
  readonly ts: string
}

const EVENT = 'Andes_virus_Argentina_2018'
const WHEN = 'crosses:cases:100'

/** The same verb with the same filters in the three clients. */
const verb = (
  name: string,
  filters: Readonly<Record<string, string>>,
  { r = `ob_${name}`, isWalk = false }: { r?: string; isWalk?: boolean } = {},
): Snippets => {
  const named = Object.entries(filters)
  const python = named.map(([key, value]) => `${key}="${value}"`).join(', ')
  const call = `outbreaks.${name}({ ${named.map(([key, value]) => `${key}: '${value}'`).join(', ')} })`
  return {
    python: isWalk
      ? `answer = list(ob.${name}(${python}))\nprint(len(answer))`
      : `answer = ob.${name}(${python})\nprint(answer.to_pandas().head())`,
    r: `print(${r}(client, ${named.map(([key, value]) => `${key} = "${value}"`).join(', ')}))`,
    ts: isWalk ? `for await (const each of ${call}) console.log(each)` : `console.log(await ${call})`,
  }
}

/** By operationId. An operation that is not here has no verb: the clients use it automatically, or not at all. */
export const SNIPPETS: Readonly<Partial<Record<string, Snippets>>> = {
  listRecords: {
    python: `print(ob.records(event="${EVENT}").to_pandas())`,
    r: `print(ob_records(client, event = "${EVENT}"))`,
    ts: `for await (const record of outbreaks.records({ event: '${EVENT}' })) console.log(record.cases)`,
  },
  listRecordVersions: {
    python: `for version in ob.history(1):\n    print(version["from_release"], version["record"]["cases"])`,
    r: `print(ob_history(client, 1))`,
    ts: `for await (const version of outbreaks.history(1)) console.log(version.from_release, version.record.cases)`,
  },
  listReleases: {
    python: `for release in ob.releases():\n    print(release["number"], release["title"])`,
    r: `print(ob_releases(client))`,
    ts: `for await (const release of outbreaks.releases()) console.log(release.number, release.title)`,
  },
  getRelease: {
    python: `print(ob.release(1)["digest"])`,
    r: `print(ob_release(client, 1)$digest)`,
    ts: `console.log((await outbreaks.release(1)).digest)`,
  },
  downloadFile: {
    python: `print(ob.download("csv", "data/", release=1))`,
    r: `print(basename(ob_download(client, "csv", release = 1, dir = ".")))`,
    ts: `let bytes = 0\nfor await (const part of await outbreaks.download('csv', { release: 1 })) bytes += part.length\nconsole.log(bytes)`,
  },
  listChanges: {
    python: `for change in ob.changes(5, 6):\n    print(change["change"], change["reason"])\n    break`,
    r: `print(ob_changes(client, 5, 6))`,
    ts: `for await (const change of outbreaks.changes({ from: 5, to: 6 })) {\n  console.log(change.change, change.reason)\n  break\n}`,
  },
  listEvents: verb('events', { q: 'andes virus' }, { isWalk: true }),
  searchValues: {
    python: `print(ob.search("ebola uganda").to_pandas())`,
    r: `print(ob_search(client, "ebola uganda"))`,
    ts: `console.log(await outbreaks.search('ebola uganda'))`,
  },
  getFacets: verb('facets', { event: EVENT }),
  getCoverage: verb('coverage', { by: 'country_code', interval: 'month', event: EVENT }),
  getSeries: verb('series', { interval: 'month', event: EVENT }),
  getSums: verb('sums', { group_by: 'country_code', event: EVENT }),
  getVintages: verb('vintages', { interval: 'month', event: EVENT }),
  getCitation: {
    python: `print(ob.cite(event="${EVENT}"))`,
    r: `cat(ob_cite(client, event = "${EVENT}"))`,
    ts: `console.log(await outbreaks.cite({ event: '${EVENT}' }))`,
  },
  listWatches: {
    python: 'print(ob.watches().to_pandas())',
    r: 'print(ob_watches(client))',
    ts: 'console.log(await outbreaks.watches())',
  },
  createWatch: {
    python: `watch = ob.watch("${WHEN}", event="${EVENT}", counts="cases")\nprint(watch["id"])`,
    r: `watch <- ob_watch(client, "${WHEN}", event = "${EVENT}", counts = "cases")\nprint(watch$id)`,
    ts: `const watch = await outbreaks.watch('${WHEN}', { event: '${EVENT}', counts: 'cases' })\nconsole.log(watch.id)`,
  },
  previewWatch: {
    python: `print(ob.preview_watch("${WHEN}", event="${EVENT}", counts="cases").to_pandas())`,
    r: `print(ob_preview_watch(client, "${WHEN}", event = "${EVENT}", counts = "cases"))`,
    ts: `const { data } = await outbreaks.previewWatch('${WHEN}', { event: '${EVENT}', counts: 'cases' })\nfor (const notice of data) console.log(notice.time, notice.data.title)`,
  },
  changeWatch: {
    python: 'ob.change_watch(id, state="paused")',
    r: 'ob_change_watch(client, id, state = "paused")',
    ts: `await outbreaks.changeWatch(id, { state: 'paused' })`,
  },
  deleteWatch: {
    python: 'ob.delete_watch(id)',
    r: 'ob_delete_watch(client, id)',
    ts: 'await outbreaks.deleteWatch(id)',
  },
  listWatchNotices: {
    python: 'print(ob.notices(id, after=7).to_pandas())',
    r: 'print(ob_notices(client, id, after = 7))',
    ts: 'console.log(await outbreaks.notices({ watch: id, after: 7 }))',
  },
  listNotices: {
    python: 'print(ob.notices(after=5).to_pandas())',
    r: 'print(ob_notices(client, after = 5))',
    ts: 'console.log(await outbreaks.notices({ after: 5 }))',
  },
}
