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
  records,
  stemOf,
  usedFrom
} from './bundle.ts'

/** The only stylesheet of an entry contains those of its whole static graph. */
interface Output extends Chunk {
  readonly dynamicImports: readonly string[]
  readonly entryPoint: string | undefined
  readonly inputs: readonly string[]
}

/** @param dir is the mount's directory, to which the build was written */
export function readEsbuild({ outputs: given }: Json, dir: string): Bundle | undefined {
  if (!isRecord(given)) return undefined
  const base = baseOf(Object.keys(given), dir)
  const outputs = new Map(
    records(given, 'output').map(([path, output]) => [path, readOutput(path, output, base)])
  )
  const all = [...outputs.values()]
  const entries = new Map(
    [...outputs].flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, path]]
    )
  )
  const tagged = namedBy(loadedWith(outputs, [...entries.values()]))
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
    files: new Set(all.flatMap(filesOf)),
    hashed: hashedIn(outputs)
  }
}

/**
 * Returns the length of the path in front of the files in the paths of outputs, which start at esbuild's working
 * directory: with the mount `/srv/site/dist`, that is `dist/` or `site/dist/`, possibly behind `../`.
 */
function baseOf(paths: readonly string[], dir: string): number {
  const up = /^(?:\.\.\/)*/.exec(paths[0] ?? '')?.[0] ?? ''
  const segments = dir.split(/[/\\]/).filter(Boolean)
  const bases = segments.map((_, at) => `${up}${segments.slice(at).join('/')}/`)
  return bases.find(base => paths.every(path => path.startsWith(base)))?.length ?? 0
}

function readOutput(path: string, output: Json, base: number): Output {
  const { imports = [], entryPoint, cssBundle, inputs } = output
  if (!Array.isArray(imports)) throw new TypeError(`imports of ${path} is not a list`)
  return {
    file: fileBelow(path.slice(base)),
    imports: pathsOf(imports, 'import-statement'),
    dynamicImports: pathsOf(imports, 'dynamic-import'),
    uses: [...pathsOf(imports), ...(typeof cssBundle === 'string' ? [cssBundle] : [])],
    entryPoint: typeof entryPoint === 'string' ? entryPoint : undefined,
    stylesheets: typeof cssBundle === 'string' ? [fileBelow(cssBundle.slice(base))] : [],
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

/** Each of entryNames, chunkNames and assetNames is a pattern of its own; a dynamically imported module is a chunk. */
function hashedIn(outputs: ReadonlyMap<string, Output>): Set<string> {
  const entries: StemmedFile[] = []
  const chunks: StemmedFile[] = []
  const assets: StemmedFile[] = []
  const all = [...outputs.values()]
  const dynamic = new Set(all.flatMap(({ dynamicImports }) => dynamicImports))
  const bundles = new Set(all.flatMap(({ stylesheets }) => stylesheets))
  for (const [path, { file, entryPoint, stylesheets, inputs }] of outputs) {
    if (entryPoint !== undefined) {
      const group = dynamic.has(path) ? chunks : entries
      for (const each of [file, ...stylesheets]) group.push([each, stemOf(entryPoint)])
    } else if (/\.m?js$/.test(file)) chunks.push([file, 'chunk'])
    else if (!bundles.has(file)) assets.push([file, stemOf(inputs[0] ?? '')])
  }
  return hashedAmong([entries, chunks, assets], HASHES.esbuild)
}
