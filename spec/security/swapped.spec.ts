// S52: links that are swapped between inside and outside all the time, while sources are published.
import { readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { PlainNames } from '../../lib/assets/building/on-request/plain-names.ts'
import { precompile } from '../../lib/assets/building/precompile.ts'
import { settle } from '../../lib/assets/settings/settings.ts'
import { Sources } from '../../lib/assets/sources/sources.ts'
import { filesBelow } from '../support/fingerprinted.ts'
import type { AssetError } from '../../lib/errors.ts'
import { makeProject, writeFiles } from '../support/site.ts'
import { cases } from '../support/soak.ts'
import { SECRET } from './stronghold.ts'

const BIG = 1_100_000

/**
 * Points a link at two places in turn, some thousand times a second, until the spec is over, or until it is told
 * to leave it at the first of them.
 */
async function swap(
  t: ExecutionContext,
  link: string,
  places: readonly string[]
): Promise<() => Promise<void>> {
  symlinkSync(places[0] ?? '', link)
  const worker = new Worker(
    `const { renameSync, symlinkSync } = require('node:fs')
     const { parentPort, workerData: { link, places } } = require('node:worker_threads')
     // Without a pause its events in the watched folder would leave the spec no turn.
     const pause = new Int32Array(new SharedArrayBuffer(4))
     for (let at = 0; ; at++) {
       Atomics.wait(pause, 0, 0, 0.1)
       symlinkSync(places[at % places.length], link + '.swap')
       renameSync(link + '.swap', link)
       if (at === 10) parentPort.postMessage('swapping')
     }`,
    { eval: true, workerData: { link, places } }
  )
  t.teardown(() => worker.terminate())
  await new Promise(resolve => worker.once('message', resolve))
  return async () => {
    await worker.terminate()
    rmSync(`${link}.swap`, { force: true })
    rmSync(link)
    symlinkSync(places[0] ?? '', link)
  }
}

/** Publishes a name of the one app, as a request for it would. */
function publisherOf(root: string): (name: string) => Promise<unknown> {
  const settings = settle({ root, env: 'test' })
  const [app] = settings.apps
  if (!app) throw new Error('there is no app')
  const sources = new Sources(settings, () => {})
  const publisher = new PlainNames(settings, sources, () => {})
  return name => publisher.publish(app, name)
}

function tellsSecret(root: string): string[] {
  const folder = join(root, 'public')
  return filesBelow(folder).filter(file => readFileSync(join(folder, file)).includes(SECRET))
}

for (const what of ['a file', 'a big file', 'a folder'] as const) {
  test.serial(
    `S52 ${what} of a source that is a swapped link never publishes what lies outside`,
    async t => {
      const size = what === 'a big file' ? BIG : 100
      const inside = Buffer.alloc(size, 'inside ')
      const outside = makeProject(t, { 'x.bin': Buffer.alloc(size, SECRET) })
      const root = makeProject(t, {
        'apps/web/assets/images/good/x.bin': inside,
        'apps/web/assets/images/y': ''
      })
      const images = join(root, 'apps/web/assets/images')
      const rest =
        what === 'a folder'
          ? await swap(t, join(images, 'link'), ['good', outside])
          : await swap(t, join(images, 'link.bin'), ['good/x.bin', join(outside, 'x.bin')])
      const name = what === 'a folder' ? 'link/x.bin' : 'link.bin'
      const publish = publisherOf(root)
      for (let round = 0; round < cases(100, 1000); round++) {
        await publish(name)
        t.deepEqual(tellsSecret(root), [], `round ${round}`)
      }
      await rest()
      t.truthy(await publish(name), 'what lies inside is published')
    }
  )
}

test.serial('S52 a precompile publishes nothing from outside while links are swapped', async t => {
  const files = (folder: string, text: string) =>
    Object.fromEntries([
      [`${folder}x.bin`, Buffer.alloc(BIG, text)],
      ...Array.from({ length: 40 }, (_, at) => [`${folder}small${at}.css`, `/*! ${text} */`])
    ])
  const outside = makeProject(t, files('', SECRET))
  const root = makeProject(t, files('apps/web/assets/images/good/', 'inside '))
  const images = join(root, 'apps/web/assets/images')
  await swap(t, join(images, 'link.bin'), ['good/x.bin', join(outside, 'x.bin')])
  await swap(t, join(images, 'link'), ['good', outside])
  for (let round = 0; round < cases(3, 20); round++) {
    await precompile({ root, integrity: false }, { warn: () => {} }).catch((error: unknown) => {
      // What was published may be found to be another than what was digested.
      t.like(error, { name: /AssetError|PrecompileError/.exec(String(error))?.[0] ?? 'AssetError' })
    })
    t.deepEqual(tellsSecret(root), [], `round ${round}`)
  }
})

test.serial(
  'S52 nothing is written outside while a folder of public is a swapped link',
  async t => {
    const outside = makeProject(t)
    const source = 'apps/web/assets/x/sub/app.txt'
    const root = makeProject(t, { [source]: 'a', 'public/assets/real/y': '' })
    const rest = await swap(t, join(root, 'public/assets/sub'), ['real', outside])
    const publish = publisherOf(root)
    for (let round = 0; round < cases(100, 1000); round++) {
      writeFiles(root, { [source]: `round ${round}` })
      try {
        await publish('sub/app.txt')
      } catch (error) {
        t.is((error as AssetError).code, 'publish-failed')
      }
      t.deepEqual(filesBelow(outside), [], `round ${round}`)
    }
    await rest()
    t.truthy(await publish('sub/app.txt'), 'into the folder inside')
  }
)
