// The site: its theme and its navigation. Everything is static; nothing is loaded from other hosts.
import starlight from '@astrojs/starlight'
import { defineConfig, passthroughImageService } from 'astro/config'
import { BASE, labelOf, SECTIONS, slugOf } from './pages.ts'

const sidebar = SECTIONS.map(({ label, groups }) => ({
  label,
  items: groups.map((group) => ({
    label: group.label,
    // A long list, which is open only on its own pages.
    collapsed: group.label === 'API',
    items: group.sources.map((source) => ({ slug: slugOf(source), label: labelOf(source) })),
  })),
}))

export default defineConfig({
  base: BASE,
  outDir: 'dist',
  trailingSlash: 'always',
  build: { inlineStylesheets: 'never' },
  image: { service: passthroughImageService() },
  integrations: [
    starlight({
      title: 'Outbreak Data Service',
      favicon: '/favicon.svg',
      // The same tokens, fonts and mark as the explorer.
      customCss: ['../explorer/src/tokens.css', './src/styles/site.css'],
      logo: { src: './public/favicon.svg', alt: '' },
      credits: false,
      pagefind: true,
      sidebar,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      // Two themes, so that the contrast is enough in both.
      expressiveCode: { themes: ['github-dark-high-contrast', 'github-light-high-contrast'] },
    }),
  ],
})
