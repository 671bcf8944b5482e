// esbuild's metafile: the result of a build with `metafile: true`.
import { isRecord } from '../../options.ts'
import { fileBelow, records, type Json, type Bundle, type BundleEntry } from './bundle.ts'
import { importOrder } from '../views/module-graph.ts'
import { HASHES, hashedAmong, stemOf, type NamedFile } from './hashed-names.ts'

interface Output {
  readonly file: string
  /** Keys of outputs. */
  readonly imports: readonly string[]
  readonly dynamicImports: readonly string[]
  readonly entryPoint: string | undefined
  /** Key of an output. */
  readonly cssBundle: string | undefined
  readonly inputs: readonly string[]
}

type Outputs = ReadonlyMap<string, Output>

/** @param dir the mount's directory, which is that of the outputs */
export function readEsbuild({ outputs: given }: Json, dir: string): Bundle | undefined {
  if (!isRecord(given)) return undefined
  const base = baseOf(Object.keys(given), dir)
  const outputs: Outputs = new Map(
    records(given, 'output').map(([path, output]) => [path, readOutput(path.slice(base), output)])
  )
  const entries = new Map(
    [...outputs].flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, path]]
    )
  )
  const reached = [...graphOf(outputs, entries.values())]
  return {
    names: [...entries.keys()],
    entry: name => {
      const path = entries.get(name)
      return path === undefined ? undefined : entryOf(outputs, path)
    },
    tagged: new Set(reached.flatMap(output => [output.file, ...stylesheetsOf(outputs, output)])),
    files: new Set(Array.from(outputs.values(), ({ file }) => file)),
    hashed: hashedIn(outputs)
  }
}

/**
 * The length of what stands before the files in the paths of outputs, which start at esbuild's working
 * directory: with the mount `/srv/site/dist`, that is `dist/` or `site/dist/`, possibly behind `../`.
 */
function baseOf(paths: readonly string[], dir: string): number {
  const up = /^(?:\.\.\/)*/.exec(paths[0] ?? '')?.[0] ?? ''
  const segments = dir.split(/[/\\]/).filter(Boolean)
  const bases = segments.map((_, at) => `${up}${segments.slice(at).join('/')}/`)
  return bases.find(base => paths.every(path => path.startsWith(base)))?.length ?? 0
}

function readOutput(path: string, output: Json): Output {
  const { imports = [], entryPoint, cssBundle, inputs } = output
  if (!Array.isArray(imports)) throw new TypeError(`imports of ${path} is not a list`)
  return {
    file: fileBelow(path),
    imports: pathsOf(imports, 'import-statement'),
    dynamicImports: pathsOf(imports, 'dynamic-import'),
    entryPoint: typeof entryPoint === 'string' ? entryPoint : undefined,
    cssBundle: typeof cssBundle === 'string' ? cssBundle : undefined,
    inputs: isRecord(inputs) ? Object.keys(inputs) : []
  }
}

function pathsOf(imports: readonly unknown[], kind: string): string[] {
  return imports.flatMap(each => {
    const { path, kind: actual, external } = isRecord(each) ? each : {}
    return typeof path === 'string' && actual === kind && !external ? [path] : []
  })
}

function graphOf(outputs: Outputs, paths: Iterable<string>): Set<Output> {
  return importOrder(
    Array.from(paths, path => outputAt(outputs, path)),
    ({ imports }) => imports.map(path => outputAt(outputs, path))
  )
}

function outputAt(outputs: Outputs, path: string): Output {
  const output = outputs.get(path)
  if (output) return output
  throw new TypeError(`${path} is imported but missing`)
}

/** The stylesheet of an entry contains those of its whole static graph. */
function stylesheetsOf(outputs: Outputs, { cssBundle }: Output): string[] {
  return cssBundle === undefined ? [] : [outputAt(outputs, cssBundle).file]
}

/**
 * The metafile does not say which format was built. An IIFE runs as a module too; an ES module is a syntax
 * error in a classic script.
 */
function entryOf(outputs: Outputs, path: string): BundleEntry {
  const output = outputAt(outputs, path)
  if (output.file.endsWith('.css')) return { stylesheets: [output.file], scripts: [], preloads: [] }
  return {
    stylesheets: stylesheetsOf(outputs, output),
    scripts: [{ file: output.file, kind: 'module' }],
    preloads: [...graphOf(outputs, [path])].map(({ file }) => file).slice(0, -1)
  }
}

/** entryNames, chunkNames and assetNames are patterns of their own; what is imported dynamically is a chunk. */
function hashedIn(outputs: Outputs): Set<string> {
  const entries: NamedFile[] = []
  const chunks: NamedFile[] = []
  const assets: NamedFile[] = []
  const all = [...outputs.values()]
  const dynamic = new Set(all.flatMap(({ dynamicImports }) => dynamicImports))
  const bundles = new Set(all.map(({ cssBundle }) => cssBundle))
  for (const [path, output] of outputs) {
    const { file, entryPoint, inputs } = output
    if (entryPoint !== undefined) {
      const group = dynamic.has(path) ? chunks : entries
      for (const each of [file, ...stylesheetsOf(outputs, output)]) {
        group.push([each, stemOf(entryPoint)])
      }
    } else if (/\.m?js$/.test(file)) chunks.push([file, 'chunk'])
    else if (!bundles.has(path)) assets.push([file, stemOf(inputs[0] ?? '')])
  }
  return hashedAmong([entries, chunks, assets], HASHES.esbuild)
}
