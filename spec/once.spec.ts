// A failure is not remembered: each call of the disk fails once, while a server starts and its parts are used for the first
// time, and what is asked for then is as if nothing had failed.
import type { Context, Middleware } from 'koa'
import { EXTRAS } from '../lib/runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../lib/runtime/settings/options.ts'
import { CODES, onFailingDisk, type DiskCall } from './support/failing-disk.ts'
import { cases, digestOf, makeProject, makeSite, run, serial as test } from './support/index.ts'
import { viteBuild, viteMount, words, type ExecutionContext, type Site } from './support/index.ts'

const has = (name: string) => EXTRAS.some(extra => extra.name === name)

const FILES = {
  'package.json': '{ "private": true, "type": "module" }',
  'notes.txt': 'notes',
  'views/page.ejs': "<%- assets.stylesheet('app') %>",
  'apps/web/assets/css/app.css': 'a { background: url(logo.svg) }',
  'apps/web/assets/css/print.css.less': '@a: 1px; a { width: @a }',
  'apps/web/assets/img/logo.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="1"/>',
  'apps/web/assets/js/app.js': "import './part.js'",
  'apps/web/assets/js/part.js': 'export const part = 1',
  'files/readme.txt': 'readme',
  'files/private/key.txt': 'key',
  'files/big.bin': 'x'.repeat(1_200_000),
  ...viteBuild('front', { 'src/main.js': 'main-CZTearZk.js', 'src/logo.svg': 'logo-CZTearZk.svg' })
}
const PATHS = words(`/page /assets/app.css /assets/print.css /assets/app.js /assets/logo.svg
  /files/readme.txt /files/private/key.txt /files/big.bin /front/main-CZTearZk.js`)
if (has('routes')) PATHS.push('/download')
const mounts = {
  '/files': { dir: 'files', exclude: ['private/**'] },
  '/front': { dir: 'front', ...(has('vite') && viteMount('front')) }
}
const ON_REQUEST = { env: 'production', compile: true }
const KINDS: Readonly<Record<string, KoaAssetsOptions>> = {
  'in development': { env: 'development' },
  'in production': { env: 'production' },
  'with plain names on request': { ...ON_REQUEST, fingerprint: false },
  'with fingerprints on request': { ...ON_REQUEST, ...(has('names') && { views: 'views/**' }) }
}

/** What extras add. */
interface Extras {
  readonly sendFile: (path: string, options: object) => Promise<void>
  readonly assets: { readonly entry?: (name: string) => string }
}

const routes: Middleware = async ctx => {
  const { assets, sendFile } = ctx as Context & Extras
  if (ctx.path === '/download') await sendFile.call(ctx, 'notes.txt', { root: '.', download: true })
  if (ctx.path !== '/page') return
  const tags = [assets.stylesheet('app'), assets.javascript('app', { type: 'module' })]
  ctx.body = [...tags, assets.entry?.('src/main.js')].join('\n')
}

async function responsesOf({ ask }: Site): Promise<Readonly<Record<string, string>>> {
  const responses: Record<string, string> = {}
  for (const path of PATHS) {
    const shown = ask(path).then(({ status, bytes }) => `${status} ${digestOf(bytes)}`)
    responses[path] = await shown.catch(String)
  }
  return responses
}

/** @param at which call fails; 0 for none */
async function attempt(t: ExecutionContext, kind: string, at: number) {
  const root = makeProject(t, FILES)
  if (kind === 'in production') await run({ root })
  const code = CODES[at % CODES.length] ?? 'EIO'
  const start = async () => {
    const site = await makeSite(t, {}, { ...KINDS[kind], root, mounts, routes })
    await responsesOf(site)
    return site
  }
  const { result, calls } = await onFailingDisk(root, { at, code }, () => start().catch(String))
  const context = `${at}: ${code} ${JSON.stringify(calls[at - 1])}`
  return { calls, context, after: typeof result === 'string' ? result : await responsesOf(result) }
}

for (const kind of Object.keys(KINDS)) {
  test(`${kind}, an error of the disk that occurs once has no effect on later requests`, async t => {
    const good = await attempt(t, kind, 0)
    for (const [path, response] of Object.entries(good.after))
      t.regex(response, path.includes('/private/') ? /^404 / : /^200 /, path)
    const { length } = good.calls
    const step = Math.max(1, length / cases(12, length))
    for (let next = 0; Math.floor(next) < length; next += step) {
      const { after, context } = await attempt(t, kind, Math.floor(next) + 1)
      if (typeof after === 'string') t.regex(after, /cannot start|E(?:IO|NOSPC|ACCES)/, context)
      else t.deepEqual(after, good.after, context)
    }
  })
}

test('a large file is sent each time, even if it cannot be closed', async t => {
  const root = makeProject(t, FILES)
  const { ask } = await makeSite(t, {}, { ...KINDS['in development'], root, mounts })
  const at = ({ syscall, path }: DiskCall) => syscall === 'close' && path.endsWith('big.bin')
  for (let times = 0; times < 2; times++) {
    const { result, failed } = await onFailingDisk(root, { at }, () => ask('/files/big.bin'))
    t.is(result.bytes.length, 1_200_000)
    t.truthy(failed)
  }
})
