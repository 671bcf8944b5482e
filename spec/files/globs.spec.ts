// A model of globs: what a person means by a folder or a file is excluded however it is spelled, and nothing else.
import { mkdirSync, symlinkSync } from 'node:fs'
import { posix } from 'node:path'
import test from 'ava'
import fc from 'fast-check'
import { excluderOf } from '../../lib/files/paths.ts'
import { deltaName } from '../support/deltas.ts'
import { makeProject, makeSite } from '../support/site.ts'
import { cases } from '../support/soak.ts'

interface Meant {
  readonly names: readonly string[]
  /** Whether it begins in the directory itself, said by a slash in front. */
  readonly isAnchored: boolean
  /** What is at its end. */
  readonly end: '' | '/' | '/**'
}

const name = fc.constantFrom('private', 'a', 'b', 'notes.md', '.well-known')
const meant: fc.Arbitrary<Meant> = fc.record({
  names: fc.array(name, { minLength: 1, maxLength: 3 }),
  isAnchored: fc.boolean(),
  end: fc.constantFrom('' as const, '/' as const, '/**' as const)
})
/** A slash, and what else stands for one. */
const slash = fc.constantFrom('/', '//', '/./', '///', '/.//')
const path = fc.array(name, { minLength: 1, maxLength: 4 })

/** By names alone, without patterns. */
function isExcluded(path: readonly string[], { names, isAnchored, end }: Meant): boolean {
  const startsAt = (at: number) => names.every((name, each) => path[at + each] === name)
  const isAnywhere = !isAnchored && names.length === 1 && end !== '/**'
  return path.some((_, at) => (isAnywhere || at === 0) && startsAt(at))
}

test('a glob means the same however its slashes are written', t => {
  fc.assert(
    fc.property(meant, fc.constantFrom('', '.'), fc.infiniteStream(slash), path, (...drawn) => {
      const [meant, dot, slashes, path] = drawn
      const next = () => String(slashes.next().value)
      const { names, isAnchored, end } = meant
      const front = isAnchored ? `${dot}${next()}` : ''
      const last = end === '' ? '' : `${next()}${end.slice(1)}`
      const written = `${front}${names.reduce((all, each) => `${all}${next()}${each}`)}${last}`
      const found = excluderOf([written])(path.join('/'))
      return found === isExcluded(path, meant)
    }),
    { numRuns: cases(2000, 50_000) }
  )
  t.pass()
})

const SPELLINGS = [
  ...['private', 'private/', '/private', '/private/', './private', './private/'],
  ...['private/**', 'private//**', '/private/**', './private/**', 'private/./**', 'private/*']
]

test('a mount and a source serve nothing of an excluded folder, however it is spelled', async t => {
  const folder = (dir: string) => ({
    [`/${dir}/private/a.css`]: 'secret',
    [`/${dir}/open/b.css`]: 'open'
  })
  const files = { ...folder('site'), ...folder('theme') }
  for (const exclude of SPELLINGS) {
    const mounts = { '/m': { dir: 'site', exclude } }
    const sources = [{ dir: '../../theme', at: '/', exclude }]
    const site = await makeSite(t, files, { mounts, sources })
    for (const prefix of ['/m', '/assets']) {
      t.is((await site.ask(`${prefix}/private/a.css`)).status, 404, `${prefix} ${exclude}`)
      t.is((await site.ask(`${prefix}/open/b.css`)).status, 200, `${prefix} ${exclude}`)
    }
  }
  for (const exclude of ['../site/private', 'a/../private', '/', './', '']) {
    for (const options of [
      { mounts: { '/m': { dir: 'site', exclude } } },
      { sources: [{ dir: '../../theme', exclude }] },
      { sources: [{ dir: '../../theme', include: [exclude] }] }
    ]) {
      await t.throwsAsync(makeSite(t, files, options), {
        instanceOf: TypeError,
        message: /'private\/\*\*'/
      })
    }
  }
})

test('what is excluded has no other name: a link, also below a link, a copy, a delta', async t => {
  const notes = 'secret'
  const root = makeProject(t, {
    'real/site/notes.md': notes,
    'real/site/open.txt': 'open',
    [`real/site/${posix.basename(deltaName('/notes.md', 'old'))}`]: 'delta',
    'real/site/notes.md.br': 'copy'
  })
  mkdirSync(`${root}/apps/web/assets`, { recursive: true })
  symlinkSync('notes.md', `${root}/real/site/alias.txt`)
  symlinkSync('real', `${root}/linked`)
  symlinkSync('real/site', `${root}/direct`)
  for (const symlinks of ['inside', 'follow'] as const) {
    for (const dir of ['real/site', 'linked/site', 'direct']) {
      const mounts = { '/m': { dir, exclude: '*.md', symlinks } }
      const site = await makeSite(t, {}, { root, mounts })
      t.is((await site.ask('/m/open.txt')).text, 'open', dir)
      const delta = posix.basename(deltaName('/notes.md', 'old'))
      for (const name of ['notes.md', 'alias.txt', 'notes.md.br', delta])
        t.is((await site.ask(`/m/${name}`)).status, 404, `${dir} ${name}`)
    }
  }
})
