// Reads esbuild's metafile: the result of a build with `metafile: true`.
import { isRecord } from '../../../runtime/check-options.ts'
import { bundleOf, fileBelow, HASHES, stemOf, type Json } from './bundle.ts'

export function readEsbuild({ outputs: given }: Json, dir: string) {
  if (!isRecord(given)) return undefined
  const base = baseOf(Object.keys(given), dir)
  const outputs = new Map(
    Object.entries(given).map(([path, output]) => [path, readOutput(path, output, base)])
  )
  const entries = new Map(
    [...outputs].flatMap(([path, { entryPoint }]) =>
      entryPoint === undefined ? [] : [[entryPoint, path]]
    )
  )
  // Entries include dynamically imported modules. The format is unknown: an IIFE runs as a module, but not vice versa.
  const known = { entries, lazy: new Map(), common: [], hash: HASHES.esbuild }
  return {
    ...bundleOf(outputs, known),
    // A file that a loader copies has one source; a script or stylesheet belongs to an entry, or to no source.
    sources: new Map(
      [...outputs.values()].flatMap(({ file, entryPoint, inputs: [source, ...others] }) => {
        const isCopied = !/\.(?:m?js|css)(?:\.map)?$/.test(file) && others.length === 0
        const name = entryPoint ?? (isCopied ? source : undefined)
        return name === undefined ? [] : [[name, file] as const]
      })
    )
  }
}

// Returns the length of the prefix of paths, which start where esbuild was run: `dist/` or `../site/dist/`.
function baseOf(paths: readonly string[], dir: string): number {
  const up = /^(?:\.\.\/)*/.exec(paths[0] ?? '')?.[0] ?? ''
  const segments = dir.split(/[/\\]/).filter(Boolean)
  const bases = segments.map((_, at) => `${up}${segments.slice(at).join('/')}/`)
  return bases.find(base => paths.every(path => path.startsWith(base)))?.length ?? 0
}

function readOutput(path: string, output: unknown, base: number) {
  if (!isRecord(output)) throw new TypeError(`output ${path} is not an object`)
  const { imports = [], entryPoint: entry, cssBundle, inputs: given } = output
  if (!Array.isArray(imports)) throw new TypeError(`imports of ${path} is not a list`)
  const file = fileBelow(path.slice(base))
  const entryPoint = typeof entry === 'string' ? entry : undefined
  const inputs = isRecord(given) ? Object.keys(given) : []
  // The only stylesheet of an entry contains those of its whole static graph.
  const css = typeof cssBundle === 'string' ? [cssBundle] : []
  const isShared = entryPoint === undefined && /\.m?js$/.test(file)
  return {
    file,
    stem: isShared ? 'chunk' : stemOf(entryPoint ?? inputs[0] ?? ''),
    imports: staticImports(imports),
    entryPoint,
    stylesheets: css.map(each => fileBelow(each.slice(base))),
    assets: [],
    inputs
  }
}

function staticImports(imports: readonly unknown[]): string[] {
  return imports.flatMap(each => {
    const { path, kind, external } = isRecord(each) ? each : {}
    const isStatic = typeof path === 'string' && kind === 'import-statement' && !external
    return isStatic ? [path] : []
  })
}
