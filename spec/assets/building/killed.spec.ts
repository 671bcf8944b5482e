// FPR-17: whatever moment a deploy is killed at, what was published before stays usable.
import test, { type ExecutionContext } from 'ava'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import {
  digestIn,
  digestOf,
  filesBelow,
  placed,
  readManifest,
  readPublic,
  run,
  snapshot
} from '../../support/fingerprinted.ts'
import { begin, bundle, runInChild } from '../../support/precompile-in-child.ts'
import { makeProject, writeFiles, type Files } from '../../support/site.ts'
import { cases, soakTest } from '../../support/soak.ts'

const KILLS = cases(2, 50)
const CONCURRENCY = 2

/** Pseudo-random and repeatable: mulberry32. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Sources of one deploy: every text and every other image differs from the deploy before. */
function deploy(number: number): Files {
  const files: Record<string, string> = {}
  for (let at = 0; at < 12; at++) {
    const image = at % 2 === 0 ? 'same' : `deploy ${number}`
    files[`images/${at}.png`] = `${image} ${at} `.repeat(200)
    files[`stylesheets/${at}.css`] = `a { background: url(${at}.png) } /* ${number} */`.repeat(
      30 + (number % 7)
    )
  }
  files['big.bin'] = createHash('sha256').update(String(number)).digest('hex').repeat(20_000)
  return placed(files)
}

test('FPR-17 killed at any moment, a deploy leaves the old one whole, and the next run repairs', async t => {
  t.timeout(300_000)
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.log(`SEED=${seed}`)
  const chance = random(seed)
  // How long a whole run takes after its first word, so that moments fall into all of it.
  const program = await bundle(t)
  const rehearsal = makeProject(t, deploy(0))
  const child = await begin(program, rehearsal)
  const begun = performance.now()
  await once(child, 'close')
  const duration = performance.now() - begun
  let killed = 0
  let interrupted = 0
  const worker = async () => {
    const root = makeProject(t, deploy(0))
    const directory = join(root, 'public')
    await run({ root })
    for (let number = 1; killed < KILLS || interrupted === 0; number++) {
      const before = snapshot(directory)
      writeFiles(root, deploy(number))
      const victim = await begin(program, root)
      const closed = once(victim, 'close')
      await setTimeout(chance() * duration * 1.2)
      victim.kill('SIGKILL')
      const [, signal] = (await closed) as [number | null, string | null]
      killed++
      if (signal === 'SIGKILL') interrupted++
      for (const [path, digest] of before) {
        if (digestIn(path)) t.is(digestOf(readFileSync(join(directory, path))), digest, path)
      }
      checkManifest(t, root)
      checkCompressed(t, directory)
      await run({ root })
      checkManifest(t, root)
      checkPlain(t, root)
      const hidden = filesBelow(directory).filter(path => /(?:^|\/)\./.test(path))
      for (const path of hidden) t.regex(path, /\.koa-fresh-assets-[\w-]+\.tmp$/)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  t.log(`${interrupted} of ${killed} were at work`)
  t.true(interrupted > 0)
})

const MOMENTS = ['write 13', 'compile 25', 'write 25', 'compile 1', 'write 1'].slice(0, cases(1, 5))

for (const [signal, moments] of [
  ['SIGINT', MOMENTS],
  ['SIGKILL', [...MOMENTS, 'commit 1']]
] as const) {
  const declare = signal === 'SIGINT' ? soakTest : test
  declare(
    `FPR-17 until everything is written, ${signal} leaves manifest, files and plain names as they were`,
    async (t: ExecutionContext) => {
      t.timeout(300_000)
      const program = await bundle(t)
      const root = makeProject(t, deploy(0))
      const directory = join(root, 'public')
      await run({ root })
      writeFiles(root, deploy(1))
      const before = snapshot(directory)
      for (const moment of moments) {
        const ended = await runInChild(program, root, ':', [...moment.split(' '), signal])
        t.is(ended.signal, signal, `${moment} ${ended.said}`)
        const after = snapshot(directory)
        for (const [path, digest] of before) t.is(after.get(path), digest, `${path} at ${moment}`)
      }
      await run({ root })
      checkManifest(t, root)
      checkPlain(t, root)
    }
  )
}

test('FPR-17 a signal that comes while plain names are replaced waits until all of them are', async t => {
  t.timeout(300_000)
  const program = await bundle(t)
  const root = makeProject(t, deploy(0))
  await run({ root })
  for (const [number, moment] of ['commit 1', 'commit 10'].slice(0, cases(1, 2)).entries()) {
    writeFiles(root, deploy(number + 1))
    const manifest = readManifest(root)
    const { signal } = await runInChild(program, root, ':', [...moment.split(' '), 'SIGINT'])
    t.is(signal, 'SIGINT')
    t.notDeepEqual(readManifest(root), manifest, moment)
    checkManifest(t, root)
    checkPlain(t, root)
  }
})

type Asserts = Pick<Parameters<typeof makeProject>[0], 'is' | 'true'>

/** Every file that the manifest names is there, with the bytes that its name says. */
function checkManifest(t: Asserts, root: string): void {
  for (const { target, size } of Object.values(readManifest(root).assets)) {
    const bytes = readPublic(root, target)
    t.is(bytes.length, size, target)
    t.is(digestOf(bytes), digestIn(target) ?? '', target)
  }
}

/** After a whole run, a plain name and its compressed copies are those of the manifest. */
function checkPlain(t: Asserts, root: string): void {
  for (const [plain, { target }] of Object.entries(readManifest(root).assets)) {
    t.true(readPublic(root, plain).equals(readPublic(root, target)), plain)
    for (const extension of plain.endsWith('.css') ? ['.br', '.gz'] : []) {
      const copy = readPublic(root, plain + extension)
      t.true(copy.equals(readPublic(root, target + extension)), plain + extension)
    }
  }
}

/** A compressed copy is never one of other bytes than the file beside it has. */
function checkCompressed(t: Asserts, directory: string): void {
  for (const path of filesBelow(directory).filter(name => name.endsWith('.gz'))) {
    const bytes = readFileSync(join(directory, path.slice(0, -'.gz'.length)))
    t.true(gunzipSync(readFileSync(join(directory, path))).equals(bytes), path)
  }
}
