// A failure is not remembered: each open of a file fails once, when a server starts and when its parts are used for the first time.
import { fork } from 'node:child_process'
import { once as event } from 'node:events'
import { EXTRAS } from '../lib/runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../lib/runtime/settings/options.ts'
import { inParallel } from '../lib/runtime/concurrency.ts'
import { precompile } from '../lib/koa-assets.ts'
import { onFailingDisk, type DiskCall } from './support/failing-disk.ts'
import type { Outcome, Trial } from './support/failing-open.ts'
import { cases, LOADER, makeProject, makeSite, moduleFile } from './support/index.ts'
import { serial as test, viteBuild, viteMount, words } from './support/index.ts'
import type { ExecutionContext } from './support/index.ts'

const ON_REQUEST = { env: 'production', compile: true }

test('a folder that cannot be read when a production server starts is read for the next request', async t => {
  const root = makeProject(t, { 'apps/web/assets/css/print.css.less': '@a: 1px; a { width: @a }' })
  const start = async () => {
    const site = await makeSite(t, {}, { ...ON_REQUEST, root, fingerprint: false })
    t.is((await site.ask('/none')).status, 404)
    return site
  }
  const at = ({ syscall, path }: DiskCall) => syscall === 'scandir' && path.endsWith('css')
  const { result: site, failed } = await onFailingDisk(root, { at, code: 'EACCES' }, start)
  t.is(failed?.syscall, 'scandir')
  t.regex((await site.ask('/assets/print.css')).text, /width: 1px/)
})

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
const DEVELOPMENT = has('inspector') ? ['/assets/-/'] : []
const MOUNTS = {
  '/files': { dir: 'files', exclude: ['private/**'] },
  '/front': { dir: 'front', ...(has('vite') && viteMount('front')) }
}
const KINDS: Readonly<Record<string, KoaAssetsOptions>> = {
  'in development': { env: 'development' },
  'in production': { env: 'production' },
  'with plain names on request': { ...ON_REQUEST, fingerprint: false },
  'with fingerprints on request': { ...ON_REQUEST, ...(has('names') && { views: 'views/**' }) }
}

async function run(trial: Trial): Promise<Outcome> {
  const child = fork(moduleFile('spec/support/failing-open.ts'), [JSON.stringify(trial)], {
    execArgv: [...LOADER],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc']
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += String(chunk)))
  const ended = new AbortController()
  const [outcome] = (await Promise.race([
    event(child, 'message', ended),
    event(child, 'close', ended).then(() => [undefined])
  ])) as [Outcome | undefined]
  ended.abort()
  return outcome ?? { opened: [], after: {}, unhandled: [`the process ended: ${said}`] }
}

/** Before Node 24 a process remembers an import that failed: in development somebody restarts it. */
const REMEMBERS = Number.parseInt(process.versions.node, 10) < 24
const isModule = (file = '') => /\.[cm]?[jt]s$|\/package\.json$/.test(file)

function sample<T>(all: readonly T[], most: number): T[] {
  const step = Math.max(1, all.length / most)
  return all.filter((_, at) => Math.floor(at / step) > Math.floor((at - 1) / step))
}

async function stage(t: ExecutionContext, kind: string): Promise<KoaAssetsOptions> {
  const root = makeProject(t, FILES)
  if (kind === 'in production') await precompile({ root })
  return { ...KINDS[kind], root, mounts: MOUNTS }
}

for (const kind of Object.keys(KINDS)) {
  for (const phase of ['start', 'first use'] as const) {
    test(`${kind}, what fails once at ${phase} is tried again, with no unhandled rejection`, async t => {
      const paths = [...PATHS, ...(kind === 'in development' ? DEVELOPMENT : [])]
      const options = await stage(t, kind)
      const { root = '' } = options
      const whole = { options, paths, phase, at: 0, code: 'EMFILE' } as const
      const good = await run(whole)
      t.deepEqual(good.unhandled, [])
      t.is(good.ended, undefined)
      t.true(good.opened.length > 0)
      if (kind !== 'in development' && phase === 'first use') {
        const modules = good.opened.filter(file => isModule(file) && !file.includes(root))
        t.deepEqual(modules, [], 'a production server has loaded everything')
      }
      for (const [path, response] of Object.entries(good.after))
        t.regex(response, path.includes('/private/') ? /^404 / : /^200 /, path)
      // Of our own modules, which are several hundred alike, a tenth.
      const all = good.opened.flatMap((file, at) => (isModule(file) && at % 10 > 0 ? [] : at + 1))
      const faults = sample(all, cases(4, all.length)).map(at => {
        return { at, code: at % 2 === 0 ? 'EMFILE' : 'EIO' } as const
      })
      await inParallel(faults, 2, async fault => {
        const outcome = await run({ ...whole, ...fault, options: await stage(t, kind) })
        const file = outcome.opened[fault.at - 1]
        const context = `${fault.at}: ${fault.code} ${file}`
        t.deepEqual(outcome.unhandled, [], context)
        if (outcome.ended !== undefined) {
          t.is(phase, 'start', `${context} ${outcome.ended}`)
          t.regex(outcome.ended, /cannot start|E(?:MFILE|IO)/, context)
        } else if (!(REMEMBERS && kind === 'in development' && isModule(file)))
          t.deepEqual(outcome.after, good.after, context)
      })
    })
  }
}
