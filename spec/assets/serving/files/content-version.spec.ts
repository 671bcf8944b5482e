// A model of the validators of a file that stays on disk: they are a function of its bytes, its size and its mtime.
import {
  chmodSync,
  copyFileSync,
  linkSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import test from 'ava'
import fc from 'fast-check'
import { makeSite, type Site } from '../../../support/site.ts'
import { cases } from '../../../support/soak.ts'

const MIB = 1024 * 1024
/** What is read whole, and what is sampled. */
const SIZES = [300, 2 * MIB, 5 * MIB] as const
/** In seconds: what is a date, what a second later is, and what npm, zip and Nix write. */
const MTIMES = [
  1_700_000_000, 1_700_000_001, 1_700_000_000.25, 499_162_500, 315_532_800, 1
] as const

interface State {
  readonly size: number
  /** Where the bytes differ: in the first, the middle or the last one. */
  readonly mark: number
  readonly mtime: number
}

/** What keeps the bytes and the mtime of the file. */
const KEEP: Readonly<Record<string, (file: string, state: State) => void>> = {
  'changes its mode': file => chmodSync(file, 0o640),
  'restores its mode': file => chmodSync(file, 0o644),
  'links it for a backup': file => linkSync(file, `${file}.${Math.random()}`),
  'replaces it by a copy'(file, { mtime }) {
    copyFileSync(file, `${file}.copy`)
    utimesSync(`${file}.copy`, mtime, mtime)
    renameSync(`${file}.copy`, file)
  },
  'moves it away and back'(file) {
    renameSync(file, `${file}.away`)
    renameSync(`${file}.away`, file)
  },
  'writes it again': write
}

function write(file: string, { size, mark, mtime }: State): void {
  const bytes = Buffer.alloc(size, 'film')
  for (const at of [0, size / 2, size - 1]) bytes[Math.floor(at)] = mark
  // Not through another of its names.
  rmSync(file, { force: true })
  writeFileSync(file, bytes)
  utimesSync(file, mtime, mtime)
}

const state = fc.record({
  size: fc.constantFrom(...SIZES).chain(size => fc.constantFrom(size, size + 1)),
  mark: fc.integer({ min: 0, max: 2 }),
  mtime: fc.constantFrom(...MTIMES)
})
const step = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...Object.keys(KEEP)) },
  { weight: 1, arbitrary: state }
)

const OPTIONS = { env: 'production', fingerprint: false, revalidate: 0 } as const

test('a file on disk has other validators if its bytes, its size or its mtime change, and never else', async t => {
  const memory = [{ maxFileBytes: 100 }, { maxFileBytes: 100, maxBytes: 0 }] as const
  const replicas = await Promise.all(
    memory.map(memory => makeSite(t, { '/public/a.mp4': '' }, { ...OPTIONS, memory }))
  )
  const fileOf = (site: Site) => site.at('/public/a.mp4')
  const all = new Map<string, string>()
  const stateOf = new Map<string, string>()
  const run = async (first: State, steps: readonly (string | State)[]) => {
    let now = first
    for (const site of replicas) write(fileOf(site), now)
    for (const each of [first, ...steps]) {
      // One replica goes through it all; of the other the bytes and the mtime are the same.
      if (typeof each === 'string') KEEP[each]?.(fileOf(replicas[0]!), now)
      else for (const site of replicas) write(fileOf(site), (now = each))
      const answers = await Promise.all(
        replicas.map(site => site.ask('/a.mp4', { method: 'HEAD' }))
      )
      const known = JSON.stringify(now)
      for (const { headers } of answers) {
        const { etag = '', 'last-modified': date } = headers
        t.regex(etag, /^"[\w-]+"$/)
        t.is(all.get(known) ?? etag, etag, `${known} after ${JSON.stringify(each)}`)
        all.set(known, etag)
        // What is digested whole needs no mtime. The file system may have only whole or even seconds.
        const { size, mark } = now
        const mtime = statSync(fileOf(replicas[0]!)).mtimeMs / 1000
        const isWhole = size <= 4 * MIB || mtime < 631_152_000
        const identity = JSON.stringify(isWhole ? { size, mark } : { ...now, mtime })
        t.is(stateOf.get(etag) ?? identity, identity)
        stateOf.set(etag, identity)
        t.is(date, mtime < 631_152_000 ? undefined : new Date(mtime * 1000).toUTCString())
      }
    }
  }
  const property = fc.asyncProperty(state, fc.array(step, { minLength: 1, maxLength: 5 }), run)
  await fc.assert(property, { numRuns: cases(12, 400) })
})
