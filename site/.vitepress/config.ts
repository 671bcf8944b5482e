// The site of the documentation: the pages of docs/ as they are, in the order of docs/README.md.
import { cpSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { defineConfig, type DefaultTheme } from 'vitepress'

const ROOT = resolve(import.meta.dirname, '../..')
const PAGE = /^(?:docs\/[\w-]+|README|CHANGELOG|SECURITY|bench\/results)\.md$/
const OTHERS = ['node_modules', 'lib', 'spec', 'demo', 'site', 'dist', 'coverage']

/** Beside docs/security.md, a file system may take SECURITY.md for the same. */
const RENAMED: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'SECURITY.md': 'reporting.md',
  'docs/README.md': 'all.md'
}

/** Files that pages link to, which are no pages. */
const linked = new Set<string>()

export default defineConfig({
  title: 'koa-fresh-assets',
  description: 'Assets on demand and HTTP caching for Koa',
  base: '/docs/',
  srcDir: ROOT,
  outDir: 'dist',
  cacheDir: 'node_modules/.vitepress',
  ignoreDeadLinks: 'localhostLinks',
  srcExclude: [...OTHERS.map(name => `**/${name}/**`), 'CONTRIBUTING.md', 'docs/decisions.md'],
  rewrites: { ...RENAMED, 'docs/:page': ':page' },
  head: [
    ['link', { rel: 'icon', href: 'data:,' }],
    // As the theme has it, the name of a block's language is too pale, and the search says another name than it shows.
    [
      'style',
      {},
      ':root { --vp-code-lang-color: var(--vp-c-text-2) } .DocSearch-Button-Keys { display: none !important }'
    ]
  ],
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    languageAlias: { ejs: 'html' },
    config: md => {
      md.core.ruler.push('repository-links', ({ tokens, env }) => {
        const { relativePath } = env as { relativePath: string }
        for (const { children } of tokens) {
          for (const [at, token] of (children ?? []).entries()) {
            // Vue would evaluate what is in double braces.
            if (token.type === 'code_inline') token.attrSet('v-pre', '')
            const href = token.type === 'link_open' ? token.attrGet('href') : null
            if (!href || /^(?:\w+:|#)/.test(href)) continue
            const to = placeOf(relativePath, href)
            if (to !== undefined) token.attrSet('href', to)
            else {
              // A folder of the repository has no page.
              const close = children?.slice(at).find(({ type }) => type === 'link_close')
              for (const each of [token, close]) if (each) [each.tag, each.attrs] = ['span', []]
              token.type = 'text_open'
              if (close) close.type = 'text_close'
            }
          }
        }
      })
    }
  },
  buildEnd: ({ outDir }) => {
    for (const file of linked) cpSync(join(ROOT, file), join(outDir, 'files', `${file}.txt`))
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [
      { text: 'Getting started', link: '/getting-started' },
      { text: 'By symptom', link: '/troubleshooting' },
      { text: 'Options', link: '/options' }
    ],
    sidebar: sidebar()
  }
})

/** Where a link of a page leads on the site; undefined for a folder. */
function placeOf(page: string, href: string): string | undefined {
  const [path = '', hash] = href.split('#')
  const isTop = /^(?:index|README|CHANGELOG|SECURITY|reporting)\.md$/.test(page)
  const folder = page.startsWith('bench/') ? 'bench' : isTop ? '.' : 'docs'
  const file = join(folder, path)
  const fragment = hash === undefined ? '' : `#${hash}`
  if (PAGE.test(file)) {
    const name = RENAMED[file] ?? file.replace(/^docs\//, '')
    return `/${name === 'index.md' ? '' : name.replace(/\.md$/, '')}${fragment}`
  }
  if (statSync(join(ROOT, file)).isDirectory()) return undefined
  linked.add(file)
  return `/files/${file}.txt`
}

/** The headings of docs/README.md with the pages that are linked below them. */
function sidebar(): DefaultTheme.SidebarItem[] {
  const sections = readFileSync(join(ROOT, 'docs/README.md'), 'utf8').split(/^## /m).slice(1)
  return sections.map(section => ({
    text: section.slice(0, section.indexOf('\n')),
    items: Array.from(section.matchAll(/\]\(([\w-]+)\.md\)/g), ([, name = '']) => ({
      text: titleOf(name),
      link: `/${name}`
    }))
  }))
}

function titleOf(name: string): string {
  return /^# (.*)$/m.exec(readFileSync(join(ROOT, `docs/${name}.md`), 'utf8'))?.[1] ?? name
}
