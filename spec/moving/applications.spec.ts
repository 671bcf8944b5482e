// Layers of six applications before and after the move: every difference is listed in differences.ts, with who is
// right.
import { readFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type Koa from 'koa'
import { compress } from '../../lib/koa-assets.ts'
import { makeProject } from '../support/site.ts'
import { applications, type Application } from './applications.ts'
import { compare, grouped, type Differences, type Layer } from './compare.ts'
import { differences, verdictOf, VERDICTS, type Right } from './differences.ts'

const source = readFileSync('spec/moving/applications.ts', 'utf8')
const page = readFileSync('docs/moving-from-koa-static.md', 'utf8')
const MADE = new Date('2024-05-01T10:00:00Z')
const used = new Set<unknown>()
let judged = 0

async function project(t: ExecutionContext, { files }: Application): Promise<string> {
  const root = makeProject(t, files)
  for (const path of Object.keys(files)) utimesSync(join(root, path), MADE, MADE)
  return root
}

/** The lines of a function of applications.ts, without its first and last. */
function linesOf(name: string): number {
  const [, body = ''] = new RegExp(`^function ${name}\\(.*\\n([^]*?)^}`, 'm').exec(source) ?? []
  return body.split('\n').length - 1
}

for (const [name, application] of Object.entries(applications)) {
  test(`${name} responds after the move as it did before, except for what is listed`, async t => {
    const { before, after, front, behind, paths, compressed } = application
    const [old, ours] = [await project(t, application), await project(t, application)]
    for (const dir of compressed) await compress(join(ours, dir))
    const layers = (layer: Layer, root: string) => (app: Koa) => {
      for (const each of [front, layer, behind]) each?.(app, root)
    }
    const found = await compare(t, paths, layers(before, old), layers(after, ours))
    const listed = Object.entries(found.differences).map(([difference, names]) => [
      difference,
      grouped(names)
    ])
    t.deepEqual(Object.fromEntries(listed), differences[name])

    const figures = [
      ...[linesOf(`${name}Before`), linesOf(`${name}After`), found.requests],
      ...verdictsOn(found.differences)
    ]
    t.true(found.requests >= 60)
    const row = new RegExp(`^\\| ${name} .*$`, 'm').exec(page)?.[0].split('|').slice(3, -1)
    t.deepEqual(row?.map(Number), figures, `the page's row: ${figures.join(' | ')}`)
    judged++
  })
}

/** How many requests differ, and in how many of them ours is right, either, theirs. */
function verdictsOn(found: Differences): readonly number[] {
  const verdicts = new Map<string, Set<Right>>()
  for (const [difference, names] of Object.entries(found)) {
    for (const request of names) {
      const verdict = verdictOf(difference, request)
      if (!verdict) throw new Error(`who is right about "${difference}" of ${request}?`)
      used.add(verdict)
      verdicts.set(request, new Set([...(verdicts.get(request) ?? []), verdict.right]))
    }
  }
  const ranks = ['theirs', 'ours', 'either'] as const
  const worst = Array.from(verdicts.values(), each => ranks.find(rank => each.has(rank)))
  const count = (right: Right) => worst.filter(each => each === right).length
  return [verdicts.size, count('ours'), count('either'), count('theirs')]
}

test.after('every listed verdict applies to some request', t => {
  if (judged < Object.keys(applications).length) return
  t.deepEqual(
    VERDICTS.filter(verdict => !used.has(verdict)),
    []
  )
})
