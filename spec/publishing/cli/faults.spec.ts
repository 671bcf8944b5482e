// Each command on a disk on which one call fails: what is left, what is said, and that the next run does the rest. `npm test` tries some of the calls, the soak each of them with each error.
import { utimesSync } from 'node:fs'
import { join } from 'node:path'
import { pathFrom, withSlashes } from '../../../lib/runtime/files/paths.ts'
import { EXTRAS } from '../../../lib/runtime/app/extras.ts'
import { CODES, onFailingDisk, type DiskCall } from '../../support/failing-disk.ts'
import { isKnown, run } from './run.ts'
import { AS_WRITTEN, cases, makeProject, openDescriptors } from '../../support/index.ts'
import { serial as test, textsBelow, until, viteBuild, writeFiles } from '../../support/index.ts'
import type { ExecutionContext, Files } from '../../support/index.ts'

/** Every file below a directory, with its content; the list of kept files without the time of the run. */
const tree = (root: string) =>
  Object.fromEntries(
    Object.entries(textsBelow(root)).map(([path, text]) => [
      path,
      text.replace(/(?<="replaced": ")[^"]*/, '')
    ])
  )

/** One of the previous bytes is removed before its file is replaced. */
const isCopy = (path: string) => /\.(?:br|gz|zst)$/.test(path)

/** A command, and what its project is like when it begins. */
interface Scene {
  readonly line: string
  readonly files: Files
  /** What is run, and written, before. */
  readonly before?: readonly (string | Files)[]
}

const WORDS = Array.from({ length: 300 }, (_, at) => ((at * 7919) % 9973).toString(36)).join(' ')
const APP = {
  'assets.config.mjs': `export default ${JSON.stringify(AS_WRITTEN)}`,
  'apps/web/assets/a.css': `.a { background: url(b.svg) } /* ${WORDS} */`,
  'apps/web/assets/b.svg': `<svg><!-- ${WORDS} --></svg>`,
  'views/page.ejs': "<%- assets.stylesheet('a') %>"
}
const EDITED = { 'apps/web/assets/a.css': `.a { color: red } /* ${WORDS} */` }
const build = (dir: string, name: string): Files => ({
  ...viteBuild(dir, { 'a.js': name }),
  [`${dir}/${name}`]: `a('${name}', '${WORDS}')`
})
const BUILDS = { ...build('old', 'a-AbCd1234.js'), ...build('new', 'a-EfGh5678.js') }
const SCENES: readonly Scene[] = [
  { line: 'precompile', files: APP, before: ['precompile', EDITED] },
  { line: 'verify', files: APP, before: ['precompile'] },
  { line: 'verify --views views/*', files: APP },
  { line: 'clean --keep 0 --age 0h', files: APP, before: ['precompile', EDITED, 'precompile'] },
  { line: 'list', files: APP, before: ['precompile'] },
  { line: 'explain a.css', files: APP, before: ['precompile'] },
  { line: 'types', files: APP },
  { line: 'init admin', files: { ...APP, '.gitignore': 'dist' } },
  { line: 'compress new --against old', files: BUILDS },
  { line: 'keep old new', files: BUILDS },
  { line: 'verify new', files: BUILDS, before: ['keep old new'] },
  { line: 'clean new --keep 0 --age 0h', files: BUILDS, before: ['keep old new'] }
]

async function stage(t: ExecutionContext, { files, before = [] }: Scene): Promise<string> {
  const root = makeProject(t, files)
  for (const step of before) {
    if (typeof step !== 'string') writeFiles(root, step)
    else t.is((await run(root, step)).status, 0, step)
  }
  return root
}

const isLock = (path: string) => /\.(?:lock|tmp)$|-init\//.test(path)

/** `keep` has to read what a build says of itself. */
const canKeep = EXTRAS.some(({ name }) => name === 'releases')
const needsKeep = ({ line, before: [first = line] = [] }: Scene) =>
  typeof first === 'string' && first.startsWith('keep ')

const isPossible = ({ line, before = [] }: Scene) =>
  [line, ...before].every(step => typeof step !== 'string' || isKnown(step))

/** A temporary file is named, or what it was for. */
const isNamed = (message: string, root: string, { path }: DiskCall) =>
  withSlashes(message).includes(pathFrom(root, path)) || isLock(path)

/** Without what a failure may leave. */
const steady = (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).filter(([path]) => !isLock(path)))

for (const scene of SCENES.filter(each => isPossible(each) && (canKeep || !needsKeep(each)))) {
  const { line } = scene
  test(`${line}: a failure of the disk leaves no damaged file`, async t => {
    const whole = await stage(t, scene)
    const old = tree(whole)
    const { calls, result } = await onFailingDisk(whole, {}, () => run(whole, line))
    t.is(result.status, 0, result.stderr)
    const expected = tree(whole)
    const step = Math.max(1, calls.length / cases(8, calls.length))
    for (let next = 0; Math.floor(next) < calls.length; next += step) {
      const at = Math.floor(next) + 1
      const code = CODES[at % CODES.length] ?? 'EIO'
      const root = await stage(t, scene)
      const open = openDescriptors()
      const { result, failed } = await onFailingDisk(root, { at, code }, () => run(root, line))
      if (!failed) continue
      // What explain tells of a source is its result.
      const said = line.startsWith('explain ') ? result.stdout + result.stderr : result.stderr
      const context = `${at}: ${code} ${failed.syscall} ${failed.path}: ${said}`
      const left = tree(root)
      for (const [path, content] of Object.entries(left)) {
        if (!isLock(path))
          t.true([old[path], expected[path]].includes(content), `${path} ${context}`)
      }
      for (const path of Object.keys(old))
        if (expected[path] && !isCopy(path)) t.truthy(left[path], `${path} ${context}`)
      if (result.status === 0) t.deepEqual(steady(left), steady(expected), context)
      else t.true(isNamed(said, root, failed) && said.includes(code), context)
      await until(() => openDescriptors() <= open, `no descriptor is left: ${context}`)
      // As if the seconds had passed after which a lock counts as abandoned.
      for (const path of Object.keys(left).filter(isLock)) utimesSync(join(root, path), 0, 0)
      const again = await run(root, line)
      t.is(again.status, 0, `${context} ${again.stderr}`)
      t.deepEqual(steady(tree(root)), steady(expected), context)
    }
  })
}
