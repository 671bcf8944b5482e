// Whatever servers of development have published, and whatever has become of its sources: after a precompile production
// serves what it would from a clean checkout.
import { deepEqual } from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize } from 'node:v8'
import fc from 'fast-check'
import { digestOf } from '../../../lib/runtime/files/digest.ts'
import type { IndexEntry } from '../../../lib/publishing/building/mtime-index.ts'
import { cases, filesBelow, makeProject, makeSite, run, test } from '../../support/index.ts'
import { until, writeFiles, type ExecutionContext, type Files } from '../../support/index.ts'

const SOURCES = [
  ...['web/assets/css/site/app.css.scss', 'web/assets/css/print.css', 'web/assets/js/a/menu.js'],
  ...['web/assets/images/x/admin/menu.png', 'admin/assets/images/menu.png']
].map(path => `apps/${path}`)
/** What a person put into public. */
const OWN: Files = { 'public/assets/own.css': 'own', 'public/assets/admin/images/own.png': 'own' }
/** Without it no index is kept. */
const NODE_MODULES: Files = { 'node_modules/x': '' }
const PATHS = SOURCES.flatMap(file => {
  const parts = file.replace('.scss', '').split('/').slice(2)
  const tails = parts.map((_, at) => parts.slice(at).join('/'))
  return tails.flatMap(tail => [`/assets/${tail}`, `/assets/admin/${tail}`])
})

type Step =
  | { readonly does: 'ask'; readonly path: string }
  | { readonly does: 'write'; readonly file: string }
  | { readonly does: 'remove'; readonly file: string }
  | { readonly does: 'restart'; readonly tails: boolean }

const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ does: fc.constant('ask'), path: fc.constantFrom(...PATHS) })
  },
  fc.record({ does: fc.constant('write'), file: fc.constantFrom(...SOURCES) }),
  fc.record({ does: fc.constant('remove'), file: fc.constantFrom(...SOURCES) }),
  fc.record({ does: fc.constant('restart'), tails: fc.boolean() })
)

/** Waits until the index of a server that ends, which has published these, is kept. */
async function awaitKept(root: string, published: ReadonlySet<string>): Promise<void> {
  const folder = join(root, 'node_modules/.cache/koa-fresh-assets')
  if (!existsSync(join(root, 'node_modules'))) return
  const isKept = () => {
    const there = [...published].filter(path => existsSync(join(root, 'public', path)))
    const name = filesBelow(folder).find(each => !each.endsWith('.tmp'))
    if (name === undefined) return there.length === 0
    const sealed = readFileSync(join(folder, name)).subarray(digestOf('').length)
    const { entries } = deserialize(sealed) as { entries: [string, IndexEntry][] }
    const times = new Map(entries.map(([path, { targets }]) => [path, targets[0]?.stamp.ctimeNs]))
    const timeOf = (path: string) => statSync(join(root, 'public', path), { bigint: true }).ctimeNs
    return there.every(path => times.get(path) === timeOf(path))
  }
  await until(isKept, 'the index is kept')
}

async function develop(t: ExecutionContext, root: string, steps: readonly Step[]) {
  let version = 0
  let site = await makeSite(t, {}, { root })
  const published = new Set<string>()
  for (const step of steps) {
    if (step.does === 'ask') {
      if ((await site.ask(step.path)).status === 200) published.add(step.path)
    } else if (step.does === 'restart') {
      await awaitKept(root, published)
      site = await makeSite(t, {}, { root, tails: step.tails })
    } else if (step.does === 'remove') rmSync(join(root, step.file), { force: true })
    else writeFiles(root, { [step.file]: `/* ${++version} */` })
  }
  await awaitKept(root, published)
}

async function sentIn(t: ExecutionContext, root: string) {
  const site = await makeSite(t, {}, { root, env: 'production' })
  const own = ['/assets/own.css', '/assets/own.png', '/assets/admin/own.png']
  const sent = [...PATHS, ...own].map(async path => [path, (await site.ask(path)).text])
  return Promise.all(sent)
}

/** Without an index everything is asked for, and then edited. */
const ALL: Step[] = [
  ...PATHS.map(path => ({ does: 'ask', path }) as const),
  ...SOURCES.map(file => ({ does: 'write', file }) as const)
]

test('model: nothing that development has published is served in production', async t => {
  t.timeout(3_600_000)
  const someSteps = fc.array(aStep, { maxLength: 25 })
  const property = fc.asyncProperty(fc.boolean(), someSteps, async (isKept, steps) => {
    const first = Object.fromEntries(SOURCES.map(file => [file, '/* 0 */']))
    const worked = makeProject(t, { ...OWN, ...(isKept && NODE_MODULES), ...first })
    await develop(t, worked, steps)
    const left = SOURCES.filter(file => existsSync(join(worked, file)))
    if (left.length === 0) return
    const clean = makeProject(t, OWN)
    for (const file of left) writeFiles(clean, { [file]: readFileSync(join(worked, file)) })
    for (const root of [worked, clean]) await run({ root })
    deepEqual(await sentIn(t, worked), await sentIn(t, clean))
  })
  const seed = Number(process.env['SEED'] ?? 1)
  const given = { numRuns: cases(3, 60), seed, examples: [[false, ALL]] as [[boolean, Step[]]] }
  await t.notThrowsAsync(fc.assert(property, given))
})
