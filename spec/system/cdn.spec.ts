// Pages of one origin whose files come from another: nginx or a bucket, as the origin of a CDN.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createServer } from 'node:http'
import { makeProject, open, placed, run, test, writeFiles } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { linkSdk, makeBucket } from './bucket.ts'
import { folderOf } from './installed.ts'
import { nginxInFront } from './in-front.ts'
import { visit, type View } from './page.ts'

const MANIFEST = {
  'src/main.js': {
    file: 'assets/main-CZTearZk.js',
    css: ['assets/main-CbJf3HTm.css'],
    isEntry: true,
    src: 'src/main.js'
  }
}

const face = (family: string) =>
  `@font-face { font-family: ${family}; src: url(inter.woff2) format('woff2') }`

const FONT = readFileSync(join(folderOf('@fontsource/inter'), 'files/inter-latin-400-normal.woff2'))

const MOUNTS = { '/static': { dir: 'dist', manifest: 'dist/.vite/manifest.json' } }

/** Each makes the value of the option `host`, with the files of a project behind it. */
const CDNS: Readonly<Record<string, (t: ExecutionContext, root: string) => Promise<string>>> = {
  async nginx(t, root) {
    // What nginx lacks is a 404 of this server.
    const server = createServer((_, res) => void res.writeHead(404).end())
    return `http://127.0.0.1:${await nginxInFront(t, root, await open(t, server))}`
  },
  async 'a bucket'(t, root) {
    const bucket = await makeBucket(t)
    writeFiles(root, { 'assets.config.json': JSON.stringify({ mounts: MOUNTS }) })
    await bucket.fill(linkSdk(root))
    // All that pages need of it is the manifest.
    rmSync(join(root, 'public/assets'), { recursive: true })
    return bucket.host
  }
}

async function openWithCdn(t: ExecutionContext, makeCdn: (typeof CDNS)[string]) {
  const root = makeProject(t, {
    ...placed({
      'stylesheets/app.css': `${face('app')} p { color: rgb(1, 2, 3); font-family: app }`,
      'fonts/inter.woff2': FONT,
      'javascripts/app.js': "import { name } from './name.js'\nglobalThis.app = name",
      'javascripts/name.js': "export const name = 'module'",
      'images/logo.svg': '<svg/>'
    }),
    'dist/.vite/manifest.json': JSON.stringify(MANIFEST),
    'dist/assets/main-CZTearZk.js': "globalThis.entry = 'built'",
    'dist/assets/main-CbJf3HTm.css': `${face('entry')} i { color: rgb(3, 2, 1); font-family: entry }`,
    'dist/assets/inter.woff2': FONT
  })
  await run({ root })
  // The application comes after its CDN, whose address it needs.
  const host = await makeCdn(t, root)
  const view: View = ({ assets }) =>
    `${assets.stylesheet('app')} ${assets.javascript('app', { type: 'module', modulepreload: true })}
      ${assets.entry('src/main.js')} <p>app</p><i>entry</i>`
  return visit(t, { view, root, env: 'production', serve: false, host, mounts: MOUNTS })
}

for (const [where, makeCdn] of Object.entries(CDNS)) {
  test(`a page whose files come from ${where} at another origin has its styles, fonts and modules`, async t => {
    const { page } = await openWithCdn(t, makeCdn)
    const state = await page.evaluate<readonly unknown[]>(`document.fonts.ready.then(() => [
    getComputedStyle(document.querySelector('p')).color,
    getComputedStyle(document.querySelector('i')).color,
    [...document.fonts].map(({ family, status }) => family + ' ' + status).sort().join(),
    globalThis.app, globalThis.entry,
    document.querySelectorAll('[integrity]').length
  ])`)
    t.deepEqual(page.complaints, [])
    const [colors, fonts] = [['rgb(1, 2, 3)', 'rgb(3, 2, 1)'], 'app loaded,entry loaded']
    t.deepEqual(state, [...colors, fonts, 'module', 'built', 5])
  })
}
