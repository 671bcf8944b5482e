// What the overview at start says of Vite.
import { execFile } from 'node:child_process'
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { test, type ExecutionContext } from '../../support/test.ts'

import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { freshAssets } from '../../../lib/extras/vite/plugin.ts'
import { ESBUILD, TWO_BUILDS, viteMount } from '../../support/bundler-project.ts'
import { makeProject } from '../../support/site.ts'
import { LOADER, moduleFile } from '../../support/typescript.ts'
import { startVite } from '../../support/vite-server.ts'

const VITE = viteMount()

/** A project whose build is of 17:17, on the given day. */
function builtAt1717(t: ExecutionContext, day = new Date()): string {
  const root = makeProject(t, TWO_BUILDS)
  const at = new Date(day).setHours(17, 17, 0) / 1000
  utimesSync(join(root, VITE.manifest), at, at)
  return root
}

/** What a server prints that starts in development. */
async function printed(options: KoaAssetsOptions): Promise<string> {
  const library = JSON.stringify(pathToFileURL(moduleFile('lib/koa-assets.ts')).href)
  const script = `import { koaAssets } from ${library}\nkoaAssets(${JSON.stringify(options)})`
  const env = { ...process.env, NODE_ENV: 'development' }
  const words = [...LOADER, '--input-type=module', '--eval', script]
  return (await promisify(execFile)(process.execPath, words, { env })).stderr
}

test('without Vite the line at start says of when the build is, and with it where it runs', async t => {
  const root = builtAt1717(t)
  const mounts = { '/static': VITE, '/other': ESBUILD, '/none': { ...VITE, manifest: 'none.json' } }
  const options = { root, serve: true, apps: false as const, mounts }
  const before = await printed(options)
  t.regex(before, /^  \/static\/… +dist; Vite is not running: tags of the build of 17:17$/m)
  t.regex(before, /^  \/other\/… +other$/m, 'no word about Vite where another bundler built')
  t.regex(before, /^  \/none\/… +dist$/m)
  const plugins = [freshAssets({ mount: '/static', input: 'src/main.js' })]
  const { origin } = await startVite(t, root, { plugins })
  t.true((await printed(options)).includes(`dist; Vite at ${origin}\n`))
})

test('a build of another day is named with its date', async t => {
  const root = builtAt1717(t, new Date(2020, 1, 29))
  const stderr = await printed({ root, serve: true, mounts: { '/static': VITE } })
  t.true(stderr.includes('Vite is not running: tags of the build of 2020-02-29 17:17\n'))
})
