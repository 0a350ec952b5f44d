// The pages of the site are the Markdown files of the repository; nothing is written twice.

import { defineCollection } from 'astro:content'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { docsSchema } from '@astrojs/starlight/schema'
import { readPage, wrapTables } from '../markdown.ts'
import { isForContributors, listSources, root, slugOf } from '../pages.ts'

const docs = defineCollection({
  loader: {
    name: 'repository',
    load: async ({ store, parseData, renderMarkdown }) => {
      store.clear()
      for (const source of listSources()) {
        const file = path.join(root, source)
        const { title, description, body } = readPage(source, readFileSync(file, 'utf8'))
        const id = slugOf(source) || 'index'
        const data = await parseData({ id, data: { title, description, pagefind: !isForContributors(source) } })
        const { html, metadata } = await renderMarkdown(body, { fileURL: pathToFileURL(file) })
        store.set({ id, data, body, rendered: { html: wrapTables(html), metadata } })
      }
    },
  },
  schema: docsSchema(),
})

export const collections = { docs }
