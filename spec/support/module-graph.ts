// Modules that import each other by the names of their files, in every form, and what a browser reaches from the first one.
import { posix } from 'node:path'
import { loadModuleLexer } from '../../lib/publishing/references/modules.ts'
import type { Answer } from './ask.ts'

const FORMS: ReadonlyArray<(path: string, name: string) => string> = [
  path => `import '${path}'`,
  (path, name) => `import { own as from${name} } from '${path}'; use(from${name})`,
  (path, name) => `import * as all${name} from '${path}'; use(all${name})`,
  (path, name) => `export { own as again${name} } from '${path}'`,
  path => `void import('${path}')`,
  path => `use(new URL('${path}', import.meta.url))`,
  path => `use(() => new Worker(new URL('${path}', import.meta.url), { type: 'module' }))`
]

const EXTENSIONS = ['.ts', '.tsx', '.mts', '.cts', '.js.ts', '.jsx', '.js']
const FOLDERS = ['javascripts', 'javascripts/lib', 'shared']
const IMPORTING = EXTENSIONS.map((extension, at) => `${FOLDERS[(at + 1) % 3]}/m${at}${extension}`)
const IMPORTED = EXTENSIONS.flatMap((extension, at) =>
  ['', '/index'].map(index => `${FOLDERS[at % 3]}/t${at}${index && `x${index}`}${extension}`)
)
/** What only types are imported from is not reached. */
const TYPES = 'javascripts/types.ts'
const ALL = [...IMPORTING, ...IMPORTED, TYPES]

/** The path of a file for another one; the last of several extensions is left out of a short one, and `index`. */
function pathTo(from: string, to: string, isShort: boolean): string {
  const whole = posix.relative(posix.dirname(from), to)
  const path = isShort ? whole.replace(/(?:\/index)?\.\w+$/, '') : whole
  return path.startsWith('.') ? path : `./${path}`
}

function textOf(path: string, at: number): string {
  const isTyped = /\.[cm]?tsx?$/.test(path)
  const lines = IMPORTED.flatMap((to, number) =>
    FORMS.map((form, kind) =>
      form(pathTo(path, to, (at + number + kind) % 2 === 0), `${number}${'abcdefg'[kind]}`)
    )
  )
  return [
    isTyped ? 'export type Own = 1; export const own: Own = 1' : 'export const own = 1',
    // What has no effect is left out of joined modules.
    `const use = (...${isTyped ? 'all: unknown[]' : 'all'}) => Reflect.set(globalThis, 'used', all)`,
    ...(IMPORTING.includes(path) ? lines : ['use(own)']),
    isTyped && path !== TYPES
      ? `import type { Own as Other } from '${pathTo(path, TYPES, true)}'`
      : '',
    `globalThis['<m${at}>'] = own`
  ].join('\n')
}

/** The files below the directory of sources; a page loads `app.js`. */
export const MODULES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(ALL.map((path, at) => [path, textOf(path, at)])),
  'javascripts/app.js': IMPORTING.map(
    path => `import '${pathTo('javascripts/app.js', path, false)}'`
  ).join('\n')
}

/** The modules that a browser must reach, each by its mark. */
export const REACHED = Array.from(ALL.slice(0, -1), (_, at) => `<m${at}>`).toSorted()

/** Follows every reference of modules, and returns the marks that it meets; a URL that leads nowhere throws. */
export async function followed(first: string, get: (path: string) => Promise<Answer>) {
  const { find } = await loadModuleLexer()
  const marks = new Set<string>()
  const paths = new Set([first])
  for (const path of paths) {
    const { status, text } = await get(path)
    if (status !== 200) throw new Error(`${status} ${path}`)
    for (const [mark] of text.matchAll(/<m\d+>/g)) marks.add(mark)
    for (const reference of find(text).references)
      paths.add(posix.resolve(path, '..', reference.path))
  }
  const unknown = [...paths].filter(path => !path.endsWith('.js'))
  if (unknown.length > 0) throw new Error(`these are no scripts: ${unknown.join(', ')}`)
  return [...marks].toSorted()
}
