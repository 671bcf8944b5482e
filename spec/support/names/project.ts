// Small projects in which names meet: equal names, folders called like apps, several directories, tails.
import { existsSync, mkdtempSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import type { Compiler } from '../../../lib/runtime/settings/compiler.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { ONE_BY_ONE } from '../as-written.ts'
import { removeProject, writeFiles, type Files } from '../site.ts'
import { words } from '../texts.ts'

export interface App {
  readonly name: string
  readonly path: string
}

/** A directory of `sources`. */
export interface Library {
  readonly dir: string
  readonly at: string | undefined
  readonly include: string | undefined
  readonly exclude: string | undefined
  /** The app that searches it; undefined: all of them. */
  readonly app: string | undefined
}

/** A file in the own directory of an app, or in a library. */
export interface Written {
  readonly directory: string
  readonly path: string
  /** The references in it, which is then a stylesheet or a script. */
  readonly references: readonly string[]
}

export interface Plan {
  readonly apps: readonly App[]
  readonly libraries: readonly Library[]
  readonly files: readonly Written[]
  /** Names that files in `public/assets` have, which nobody made from a source. */
  readonly byHand: readonly string[]
  readonly tails: boolean
  readonly base: string
  /** Chooses the names that are asked for. */
  readonly offset: number
  /** True: it is compared with development after a precompile, false: with fingerprints on request. */
  readonly isPrecompiled: boolean
}

export const ownDirectory = ({ name }: App) => `apps/${name}/assets`

const WEB = { name: 'web', path: '/' }
const ADMIN = { name: 'admin', path: '/admin' }
const APPS: readonly (readonly App[])[] = [
  [WEB],
  [ADMIN],
  [WEB, ADMIN],
  [WEB, ADMIN, { name: 'shop', path: '/shop' }],
  [WEB, ADMIN, { name: 'shop', path: '/admin/shop' }],
  [ADMIN, { name: 'shop', path: '/menu/x.y' }]
]
const FOLDERS = words('css images admin shop menu x.y')
const STEMS = words('app logo menu admin a.b x.y é')
/** `.up` is compiled to `.css`. */
const EXTENSIONS = ['.css', '.css', '.js', '.svg', '.svg', '', '.up', '.css.up']

const aPath = fc
  .tuple(
    fc.array(fc.constantFrom(...FOLDERS), { maxLength: 2 }),
    fc.constantFrom(...STEMS),
    fc.constantFrom(...EXTENSIONS)
  )
  .map(([folders, stem, extension]) => [...folders, stem + extension].join('/'))

/** A path of another file without some of its folders, behind a prefix. */
const aReference = fc.record({
  prefix: fc.constantFrom('', '', './', '../', '../../', '/assets/'),
  to: fc.nat(6),
  cut: fc.nat(2)
})

interface Drawn extends Pick<Written, 'directory' | 'path'> {
  readonly references: readonly { prefix: string; to: number; cut: number }[]
}

const aLibrary = (dirs: readonly string[], apps: readonly App[]) =>
  fc.record({
    dir: fc.constantFrom(...dirs),
    at: fc.constantFrom(undefined, undefined, '/', 'menu', 'admin'),
    include: fc.constantFrom(undefined, undefined, '**/*.svg'),
    exclude: fc.constantFrom(undefined, undefined, 'admin', '**/logo.*', 'images/*'),
    app: fc.constantFrom(undefined, ...apps.map(({ name }) => name))
  })

export const aPlan: fc.Arbitrary<Plan> = fc.constantFrom(...APPS).chain(apps =>
  fc
    .record({
      libraries: fc.tuple(
        fc.option(aLibrary(['lib'], apps), { nil: undefined }),
        fc.option(aLibrary(['lib', 'node_modules/kit/dist'], apps), { nil: undefined })
      ),
      tails: fc.constantFrom(true, true, true, false),
      base: fc.constantFrom('', '', '/shop'),
      byHand: fc.constantFrom([], ['hand.svg'], ['hand/app.css']),
      offset: fc.nat(20),
      isPrecompiled: fc.constantFrom(true, true, false)
    })
    .chain(({ libraries, ...rest }) => {
      const searched = libraries.filter(each => each !== undefined)
      const directories = [...apps.map(ownDirectory), ...searched.map(({ dir }) => dir)]
      const aFile = fc.record({
        directory: fc.constantFrom(...directories),
        path: aPath,
        references: fc.array(aReference, { maxLength: 2 })
      })
      return fc.array(aFile, { minLength: 1, maxLength: 5 }).map(files => ({
        ...{ ...rest, apps, libraries: searched, files: withReferences(possible(files)) }
      }))
    })
)

/** Stylesheets refer to names and paths, scripts to paths. */
function withReferences(files: readonly Drawn[]): readonly Written[] {
  const paths = [...files.map(({ path }) => path), 'hand.svg']
  return files.map(({ directory, path, references }) => {
    const written = references.map(({ prefix, to, cut }) => {
      const names = (paths[to % paths.length] ?? '').replace(/(?:\.css)?\.up$/, '.css').split('/')
      const isBare = path.endsWith('.js') && prefix === ''
      return (isBare ? './' : prefix) + names.slice(Math.min(cut, names.length - 1)).join('/')
    })
    return { directory, path, references: /\.(?:css|js|up)$/.test(path) ? written : [] }
  })
}

/** Leaves out files at whose path another one, or a folder of another one, is. */
function possible(files: readonly Drawn[]): readonly Drawn[] {
  const taken: string[] = []
  return files.filter(({ directory, path }) => {
    const whole = `${directory}/${path}/`
    const isFree = taken.every(other => !other.startsWith(whole) && !whole.startsWith(other))
    return isFree && taken.push(whole) > 0
  })
}

const COMPILER: Compiler = { extensions: '.up', target: '.css', compile: ({ code }) => ({ code }) }

/** Thousands of projects are small files. */
const MEMORY = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()

/** The public directories of the modes. */
export const PUBLIC = ['public', 'public-plain', 'public-live'] as const
/** The text of a file that was put into one of them by hand. */
export const BY_HAND = '<by hand>'

/** The mark by which the bytes of a source are known. */
export const markOf = ({ directory, path }: Pick<Written, 'directory' | 'path'>) =>
  `<${directory}/${path}>`

export function make(plan: Plan, more: Files = {}) {
  const { apps, libraries, files, byHand, tails, base } = plan
  const root = realpathSync(mkdtempSync(join(MEMORY, 'koa-fresh-assets-')))
  writeFiles(root, {
    ...Object.fromEntries(libraries.map(({ dir }) => [`${dir}/.keep`, ''])),
    ...Object.fromEntries(apps.map(app => [`${ownDirectory(app)}/.keep`, ''])),
    ...Object.fromEntries(files.map(file => [`${file.directory}/${file.path}`, textOf(file)])),
    ...more
  })
  for (const name of byHand)
    writeFiles(root, Object.fromEntries(PUBLIC.map(dir => [`${dir}/assets/${name}`, BY_HAND])))
  const sourcesOf = (app: string | undefined) =>
    libraries
      .filter(each => each.app === app)
      .map(({ dir, at, include, exclude }) => ({ dir: join(root, dir), at, include, exclude }))
  const options: KoaAssetsOptions = {
    root,
    base,
    tails,
    sources: sourcesOf(undefined),
    apps: Object.fromEntries(
      apps.map(({ name, path }) => [name, { path, sources: sourcesOf(name) }])
    ),
    compilers: [COMPILER],
    missing: 'ignore',
    integrity: false,
    ...ONE_BY_ONE
  }
  return { root, options, remove: () => removeProject(root) }
}

/** The first line has the references as they are written, for they may be rewritten. */
function textOf(file: Written): string {
  const { path, references } = file
  if (!/\.(?:css|js|up)$/.test(path)) return markOf(file)
  const writes = path.endsWith('.js')
    ? (to: string) => `import('${to}')`
    : (to: string) => `a { b: url("${to}") }`
  return [`/* ${markOf(file)} ${references.join(' ')} */`, ...references.map(writes)].join('\n')
}
