// Links and files that somebody swaps all the time, while files are read, published, written and removed: no byte from
// outside is served or published, and nothing outside is changed.
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { readFileSync, rmSync, symlinkSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { cases, filesBelow, leadLink, makeProject, makeSite } from '../support/index.ts'
import { run as precompile, serial as test, viteBuild, writeFiles } from '../support/index.ts'
import type { ExecutionContext, SiteOptions } from '../support/index.ts'
import { PLACES } from '../security/places.ts'
import { SECRET } from '../security/stronghold.ts'
import { ofExtras } from '../support/of-extras.ts'

interface Race {
  readonly rounds: number
  /** Folders with a file for memory and one that is streamed; `outside` has such files too. */
  readonly folders?: readonly string[]
  /** Links with the places to which each leads in turn, a good one first. */
  readonly links?: Readonly<Record<string, readonly string[]>>
  /** Folders in which each temporary file becomes a link to one outside. */
  readonly replaced?: readonly string[]
  /** A file that is written before each round. */
  readonly edited?: string
  /** A site, and what each round asks of it: unless the race runs something else. */
  readonly site?: SiteOptions
  readonly urls?: readonly string[]
  readonly run?: (root: string, round: number) => Promise<unknown>
  /** Whether what is asked for is gone once the links lead outside. */
  readonly isServed?: boolean
}

const { compress, keep } = ofExtras
const IMAGES = 'apps/web/assets/images'
const EDITED = 'apps/web/assets/x/sub/app.css'
const ON_REQUEST = { site: { env: 'test' }, rounds: cases(8, 1000) }

const published: Readonly<Record<string, Race>> = {
  'no file from outside is published while links in a source are swapped': {
    ...ON_REQUEST,
    folders: [`${IMAGES}/good`],
    links: {
      [`${IMAGES}/small-link.bin`]: ['good/small.bin', 'outside/small.bin'],
      [`${IMAGES}/big-link.bin`]: ['good/big.bin', 'outside/big.bin'],
      [`${IMAGES}/link`]: ['good', 'outside']
    },
    urls: ['/assets/small-link.bin', '/assets/big-link.bin', '/assets/link/small.bin']
  },
  'a precompile publishes no file from outside while links in a source are swapped': {
    rounds: cases(1, 20),
    folders: [`${IMAGES}/good`],
    links: {
      [`${IMAGES}/link.bin`]: ['good/big.bin', 'outside/big.bin'],
      [`${IMAGES}/link`]: ['good', 'outside']
    },
    run: root => precompile({ root, integrity: false })
  },
  'nothing is written outside while a folder of public is swapped': {
    ...ON_REQUEST,
    folders: ['public/assets/real'],
    links: { 'public/assets/sub': ['real', 'outside'] },
    edited: EDITED,
    urls: ['/assets/sub/app.css']
  }
}

const swappedInPublic: Readonly<Record<string, Pick<Race, 'folders' | 'links' | 'urls'>>> = {
  'parts of public': {
    folders: ['public', 'public/real'],
    links: {
      'public/small-link.bin': ['small.bin', 'outside/small.bin'],
      'public/big-link.bin': ['big.bin', 'outside/big.bin'],
      'public/folder': ['real', 'outside']
    },
    urls: ['/small-link.bin', '/big-link.bin', '/folder/small.bin', '/folder/big.bin']
  },
  'public itself': {
    folders: ['real', 'next'],
    links: { public: ['real', 'next', 'outside'] },
    urls: ['/small.bin', '/big.bin']
  }
}

// Nothing is held, so that every request looks, opens and judges.
const memory = { maxBytes: 1, maxFileBytes: 100_000 }
const served = PLACES.flatMap(({ where, at, options }) =>
  ['production', 'development'].flatMap(env =>
    Object.entries(swappedInPublic).map(([what, { urls = [], ...race }]): [string, Race] => [
      `no outside file is served while links replace ${what}${where}, in ${env}`,
      {
        ...race,
        rounds: cases(10, 250),
        site: {
          env,
          compile: env === 'development',
          fingerprint: false,
          memory,
          revalidate: 0,
          ...options
        },
        urls: urls.map(url => at + url),
        isServed: true
      }
    ])
  )
)

const pageOf = (round: number) => `/* ${round} */${'body { color: red }\n'.repeat(40)}`

/** Removes a folder in which the other thread may still put links. */
function removeContested(folder: string): void {
  for (;;) {
    try {
      return rmSync(folder, { recursive: true, force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error
    }
  }
}

/** Two builds of a script, as a bundler leaves them. */
function writeBuilds(root: string, round: number): void {
  for (const [folder, digest] of [
    ['older', 'AAAA'],
    ['newer', 'BBBB']
  ] as const) {
    const file = `assets/app-${digest}${String(round).padStart(4, '0')}.js`
    removeContested(join(root, folder))
    const files = viteBuild(folder, { 'src/app.js': file })
    writeFiles(root, { ...files, [`${folder}/${file}`]: pageOf(round) })
  }
}

const REPLACING = { rounds: cases(15, 300), edited: EDITED }
const replaced: Readonly<Record<string, Race>> = {
  'a request': {
    ...REPLACING,
    replaced: ['public/assets/sub'],
    folders: ['public/assets/sub'],
    site: { env: 'test' },
    urls: ['/assets/sub/app.css']
  },
  precompile: {
    ...REPLACING,
    replaced: ['public/assets/sub'],
    folders: ['public/assets/sub'],
    run: root => precompile({ root, integrity: false })
  },
  ...(compress && {
    compress: { ...REPLACING, replaced: ['apps/web/assets/x/sub'], run: root => compress(root) }
  }),
  ...(keep && {
    keep: {
      ...REPLACING,
      replaced: ['newer', 'newer/assets'],
      run: (root, round) => {
        writeBuilds(root, round)
        return keep(join(root, 'older'), join(root, 'newer'))
      }
    }
  })
}

const RACES = [
  ...Object.entries(published),
  ...served,
  ...Object.entries(replaced).map(([what, race]): [string, Race] => [
    `${what} changes nothing outside while links take the place of its temporary files`,
    race
  ])
]

const smallAndBig = (folder: string, text: string) => ({
  [`${folder}/small.bin`]: Buffer.alloc(1000, text),
  [`${folder}/big.bin`]: Buffer.alloc(1_100_000, text)
})

/** Private files outside, and what a change of one, or beside it, would show. */
function makePrivate(home: string, isFolderSwapped: boolean) {
  const outside = join(home, 'outside')
  writeFiles(home, smallAndBig('outside', SECRET))
  // An empty temporary file may be outside for a moment, where the folder of a target is a link.
  const names = ['small.bin', 'big.bin', ...(isFolderSwapped ? [] : [''])]
  const paths = names.map(name => join(outside, name))
  for (const path of paths) {
    chmodSync(path, path.endsWith('.bin') ? 0o600 : 0o700)
    utimesSync(path, 1_700_000_000, 1_700_000_000)
  }
  return () => ({
    names: readdirSync(outside).toSorted(),
    stats: paths.map(path => {
      const { mode, mtimeNs, size } = lstatSync(path, { bigint: true })
      return [mode, mtimeNs, size]
    }),
    isWhole: readFileSync(join(outside, 'small.bin')).equals(Buffer.alloc(1000, SECRET))
  })
}

type Links = ReadonlyArray<readonly [link: string, places: readonly string[]]>

/** Swaps links and temporary files some thousand times a second, in a thread of its own. */
async function attack(t: ExecutionContext, home: string, links: Links, folders: readonly string[]) {
  const [to, aside] = [join(home, 'outside/small.bin'), join(home, 'aside')]
  const count = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(
    `const { readdirSync, renameSync, symlinkSync, rmSync } = require('node:fs')
     const { parentPort, workerData: { links, folders, to, aside, count } } = require('node:worker_threads')
     // Without a pause its events in the watched folders would leave the spec no turn.
     const pause = new Int32Array(new SharedArrayBuffer(4))
     const put = (place, at) => {
       rmSync(aside, { force: true })
       symlinkSync(place, aside)
       renameSync(aside, at)
       Atomics.add(count, 0, 1)
     }
     const replaceAll = folder => {
       for (const entry of readdirSync(folder, { withFileTypes: true }))
         if (entry.isFile() && /^\\.koa-fresh-assets-.*\\.tmp$/.test(entry.name)) put(to, folder + '/' + entry.name)
     }
     for (let round = 0; ; round++) {
       for (const [link, places] of links) put(places[round % places.length], link)
       if (links.length > 0) Atomics.wait(pause, 0, 0, 0.1)
       for (const folder of folders) {
         try { replaceAll(folder) } catch (error) { if (error.code !== 'ENOENT') throw error }
       }
       if (round === 10) parentPort.postMessage('swapping')
     }`,
    { eval: true, workerData: { links, folders, to, aside, count } }
  )
  t.teardown(() => worker.terminate())
  await new Promise(resolve => worker.once('message', resolve))
  return { swaps: () => Atomics.load(count, 0), stop: () => worker.terminate() }
}

/** What is refused while somebody swaps files. */
function refused(error: unknown): void {
  const { code = '', name } = error as { code?: string; name?: string }
  const isKnown = ['publish-failed', 'compress-failed', 'ENOENT', 'ELOOP', 'EEXIST'].includes(code)
  if (!isKnown && name !== 'PrecompileError') throw error
}

for (const [title, race] of RACES) {
  test(title, async t => {
    const { folders = [], edited, urls = [], rounds, run } = race
    const home = makeProject(t)
    const root = join(home, 'project')
    for (const folder of folders) writeFiles(root, smallAndBig(folder, 'inside '))
    if (edited !== undefined) writeFiles(root, { [edited]: '' })
    const outside = makePrivate(home, race.links !== undefined)
    const before = outside()
    const links = Object.entries(race.links ?? {}).map(([link, places]) => {
      const paths = places.map(place => (place.startsWith('outside') ? join(home, place) : place))
      symlinkSync(paths[0] ?? '', join(root, link))
      return [join(root, link), paths] as const
    })
    const site = race.site && (await makeSite(t, {}, { ...race.site, root }))
    if (race.isServed) for (const url of urls) t.is((await site?.ask(url))?.status, 200, url)
    const attacked = (race.replaced ?? []).map(folder => join(root, folder))
    const { swaps, stop } = await attack(t, home, links, attacked)
    const isWon = (round: number) => swaps() > 0 || round >= rounds * 50
    // On a busy machine the other thread may come too late for many of them.
    for (let round = 0; round < rounds || !isWon(round); round++) {
      if (edited !== undefined) writeFiles(root, { [edited]: pageOf(round) })
      await run?.(root, round).catch(refused)
      const answers = site ? await Promise.all(urls.map(url => site.ask(url))) : []
      t.false(
        answers.some(answer => answer.text.includes(SECRET)),
        'a byte of the outside'
      )
      const assets = join(root, 'public/assets')
      const files = filesBelow(assets).map(path => join(assets, path))
      const told = files.filter(
        path => lstatSync(path).isFile() && readFileSync(path).includes(SECRET)
      )
      t.deepEqual(told, [], `round ${round}`)
      t.deepEqual(outside(), before, `round ${round}`)
    }
    t.true(swaps() > 0)
    t.log(`${swaps()} swaps in ${rounds} rounds`)
    await stop()
    const lead = async (at: number, status: number) => {
      for (const [link, places] of links) leadLink(link, places.at(at) ?? '')
      for (const url of urls) t.is((await site?.ask(url))?.status, status, url)
    }
    if (links.length > 0) await lead(0, 200)
    if (race.isServed) await lead(-1, 404)
    const isExpected = ({ code }: NodeJS.ErrnoException) =>
      edited !== undefined && code === 'publish-failed'
    const others = (site?.errors ?? []).filter(error => !isExpected(error))
    t.deepEqual(others, [])
  })
}
