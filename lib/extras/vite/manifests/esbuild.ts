// Reads esbuild's metafile: the result of a build with `metafile: true`.
import { isRecord } from '../../../runtime/check-options.ts'
import {
  type Bundle,
  type Chunk,
  fileBelow,
  filesOf,
  hashedAmong,
  HASHES,
  type Json,
  loadedWith,
  namedBy,
  type StemmedFile,
  stemOf,
  usedFrom
} from './bundle.ts'

/** The only stylesheet of an entry contains those of its whole static graph. */
interface Output extends Chunk {
  readonly entryPoint: string | undefined
  readonly inputs: readonly string[]
}

/** @param dir is the mount's directory, to which the build was written */
export function readEsbuild({ outputs: given }: Json, dir: string): Bundle | undefined {
  if (!isRecord(given)) return undefined
  const base = baseOf(Object.keys(given), dir)
  const outputs = new Map(
    Object.entries(given).map(([path, output]) => [path, readOutput(path, output, base)])
  )
  const all = [...outputs.values()]
  const entries = new Map(
    [...outputs].flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, path]]
    )
  )
  const tagged = namedBy(loadedWith(outputs, [...entries.values()]))
  const files = new Set(all.flatMap(filesOf))
  return {
    // The metafile does not say which format was built. An IIFE runs as a module too; an ES module is a syntax
    // error in a classic script.
    entries: new Map(
      Array.from(entries, ([name, path]) => [name, () => loadedWith(outputs, [path])])
    ),
    // A module that is imported dynamically has an `entryPoint` as well.
    lazy: new Map(),
    tagged,
    taggable: tagged,
    usedBy: name => usedFrom(outputs, entries.get(name)),
    fileWith: name => all.find(({ inputs }) => inputs.includes(name))?.file,
    // A file that a loader copies has one source; a script or stylesheet is an entry's, or belongs to no source.
    sources: new Map(
      all.flatMap(({ file, entryPoint, inputs: [source, ...others] }) => {
        const isCopied = !/\.(?:m?js|css)(?:\.map)?$/.test(file) && others.length === 0
        const name = entryPoint ?? (isCopied ? source : undefined)
        return name === undefined ? [] : [[name, file] as const]
      })
    ),
    files,
    paths: files,
    hashed: hashedAmong(all.flatMap(withStems), HASHES.esbuild)
  }
}

/**
 * Returns the length of what each path starts with before it is below the directory. Paths are relative to the
 * directory in which esbuild was started: that is `dist/` or `site/dist/`, possibly behind `../`.
 */
function baseOf(paths: readonly string[], dir: string): number {
  const up = /^(?:\.\.\/)*/.exec(paths[0] ?? '')?.[0] ?? ''
  const segments = dir.split(/[/\\]/).filter(Boolean)
  const bases = segments.map((_, at) => `${up}${segments.slice(at).join('/')}/`)
  return bases.find(base => paths.every(path => path.startsWith(base)))?.length ?? 0
}

function readOutput(path: string, output: unknown, base: number): Output {
  if (!isRecord(output)) throw new TypeError(`output ${path} is not an object`)
  const { imports = [], entryPoint, cssBundle, inputs } = output
  if (!Array.isArray(imports)) throw new TypeError(`imports of ${path} is not a list`)
  const css = typeof cssBundle === 'string' ? [cssBundle] : []
  return {
    file: fileBelow(path.slice(base)),
    imports: pathsOf(imports, 'import-statement'),
    uses: [...pathsOf(imports), ...css],
    entryPoint: typeof entryPoint === 'string' ? entryPoint : undefined,
    stylesheets: css.map(each => fileBelow(each.slice(base))),
    assets: [],
    inputs: isRecord(inputs) ? Object.keys(inputs) : []
  }
}

function pathsOf(imports: readonly unknown[], kind?: string): string[] {
  return imports.flatMap(each => {
    const { path, kind: actual, external } = isRecord(each) ? each : {}
    const isMeant = typeof path === 'string' && (kind ?? actual) === actual && !external
    return isMeant ? [path] : []
  })
}

/** Each output is named after its entry point, a chunk that several have in common `chunk`, and a copied file as it was. */
function withStems({ file, entryPoint, stylesheets, inputs }: Output): StemmedFile[] {
  const isChunk = entryPoint === undefined && /\.m?js$/.test(file)
  const stem = isChunk ? 'chunk' : stemOf(entryPoint ?? inputs[0] ?? '')
  return [file, ...stylesheets].map(each => [each, stem])
}
