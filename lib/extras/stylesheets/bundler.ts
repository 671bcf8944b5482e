// Replaces stylesheets by those with their imports in them, which esbuild joins.
import { dirname, posix } from 'node:path'
import type * as Esbuild from 'esbuild'
import { MAP, type Unfinished } from '../../publishing/building/links.ts'
import { loadPeer } from '../../publishing/compilers/built-in.ts'
import type { Bundler, Project } from '../../runtime/app/parts.ts'
import { finish } from '../../publishing/rendering/draft.ts'
import type { AppSettings } from '../../runtime/settings/app-settings.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { decodeIfValid, encodePath } from '../../runtime/urls/spelling.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError, CompileError } from '../../runtime/errors.ts'
import { readContent } from '../../runtime/files/open-file.ts'
import { linked, nodeOf, pathsOf } from '../modules/joining/bundler.ts'
import { modeOf } from '../modules/options.ts'
import type { SheetReport } from './options.ts'
import { planOf, type Nodes, type Plan } from './plan.ts'

const CONCURRENCY = 8

export function makeBundler(
  { root, apps }: Project,
  sources: Sources,
  isMinified: (app: AppSettings) => boolean
): Bundler<Map<string, Unfinished>> {
  let sheets: SheetReport | undefined
  return {
    // References of stylesheets are resolved as those of others are.
    takes: () => false,
    async join(nodes, mentions) {
      const plan = planOf(nodes)
      if (plan.size === 0) return undefined
      const esbuild = await esbuildIn(root)
      if (esbuild instanceof AssetError) {
        sheets = { files: 0, imports: 0, problem: esbuild.message }
        return undefined
      }
      const named = new Set<string>()
      for (const app of apps)
        for (const path of await pathsOf(mentions, app, sources)) named.add(path)
      const gone = inOthers(nodes, plan, named)
      const files = [...plan.keys()].filter(path => !gone.has(path))
      const made = await inParallel(files, CONCURRENCY, async path => {
        const node = nodes.get(path) as Unfinished
        const { code, map, from } = await join(esbuild, { nodes, plan, node, isMinified })
        return nodeOf({ name: node.name, code, map, from: [path, ...from] }, node.app, nodes)
      })
      for (const path of gone) for (const ending of ['', MAP]) nodes.delete(path + ending)
      for (const node of made) nodes.set(node.path, node)
      for (const node of made) nodes.set(node.path, linked(node, nodes))
      const imports = [...plan.values()].reduce((sum, joined) => sum + joined.size, 0)
      sheets = { files: files.length, imports }
      return undefined
    },
    report: () => ({ sheets })
  }
}

/** Without it a browser follows the imports, as in development. */
async function esbuildIn(root: string): Promise<typeof Esbuild | AssetError> {
  try {
    return (await loadPeer(['esbuild'], 'joining stylesheets', root)) as typeof Esbuild
  } catch (error) {
    if (error instanceof AssetError && error.code === 'compiler-missing') return error
    throw error
  }
}

/** Returns the paths of the app's stylesheets that nothing loads but those into which they are joined. */
function inOthers(nodes: Nodes, plan: Plan, named: ReadonlySet<string>): ReadonlySet<string> {
  const joined = new Set([...plan.values()].flatMap(paths => [...paths]))
  const loaded = new Set(
    [...nodes.values()].flatMap(({ path, links }) =>
      links.filter(to => to !== undefined && !plan.get(path)?.has(to))
    )
  )
  const isGone = (path: string) => {
    const node = nodes.get(path)
    const isOwn = node?.source.packageName === undefined && node && modeOf(node.app) === true
    return isOwn && !loaded.has(path) && !named.has(path)
  }
  return new Set([...joined].filter(isGone))
}

interface Joining {
  readonly nodes: Nodes
  readonly plan: Plan
  readonly node: Unfinished
  readonly isMinified: (app: AppSettings) => boolean
}

/** esbuild writes it in front of the paths in source maps. */
const SHEET = 'sheet'
const INLINE_MAP =
  /\n?\/\*# sourceMappingURL=data:application\/json;(?:charset=utf-8;)?base64,(?<data>[\w+/]+={0,2}) ?\*\/\s*$/

async function join(esbuild: typeof Esbuild, { nodes, plan, node, isMinified }: Joining) {
  const { path, name } = node
  const result = await esbuild
    .build({
      entryPoints: [path],
      bundle: true,
      write: false,
      outdir: '/',
      // The texts are minified already; shortening them here would change colors.
      minifyWhitespace: isMinified(node.app) && !/\.min\.css$/i.test(name),
      sourcemap: 'external',
      metafile: true,
      charset: 'utf8',
      legalComments: 'inline',
      logLevel: 'silent',
      plugins: [sheetsFrom(nodes, plan)]
    })
    .catch((error: unknown) => {
      throw asCompileError(error, node)
    })
  const [map, sheet] = ['.map', ''].map(ending =>
    result.outputFiles.find(file => file.path.endsWith(`.css${ending}`))
  )
  const from = Object.keys(result.metafile.inputs).map(withoutNamespace)
  return {
    code: sheet?.text ?? '',
    map: relativeMap(map?.text ?? '{"sources":[]}', path),
    from: from.filter(each => each !== path && nodes.has(each))
  }
}

const withoutNamespace = (path: string) => path.slice(path.indexOf(`${SHEET}:`) + SHEET.length + 1)

function sheetsFrom(nodes: Nodes, plan: Plan): Esbuild.Plugin {
  return {
    name: SHEET,
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point') return { path, namespace: SHEET }
        const to = decodeIfValid(path) ?? ''
        const isJoined = kind === 'import-rule' && plan.get(importer)?.has(to)
        if (isJoined) return { path: to, namespace: SHEET }
        return { path: fromRoot(path, importer), external: true }
      })
      build.onLoad({ filter: /.*/, namespace: SHEET }, async ({ path }) => ({
        contents: await textOf(nodes.get(path) as Unfinished),
        loader: 'css'
      }))
    }
  }
}

/** Returns a URL that leads to the same place from the joined file, whose folder may be another. */
function fromRoot(url: string, importer: string): string {
  return /^(?:[a-z][a-z\d+.-]*:|[/#?]|$)/i.test(url)
    ? url
    : posix.join(dirname(encodePath(importer)), url)
}

/** Returns the text with plain URLs, and its source map. */
async function textOf({ draft, links, path }: Unfinished): Promise<string> {
  const urls = links.map(to => (to === undefined || to === path + MAP ? undefined : encodePath(to)))
  const code = new TextDecoder().decode(await readContent(finish(draft, urls)))
  const inline = INLINE_MAP.exec(code)
  const json = draft.map ?? Buffer.from(inline?.groups?.['data'] ?? '', 'base64').toString()
  if (json === '') return code
  // esbuild would take them as relative to a folder of the disk.
  const map = withSources(json, source => `${SHEET}:${posix.join(dirname(path), source)}`)
  const data = Buffer.from(map).toString('base64')
  return `${code.slice(0, inline?.index)}\n/*# sourceMappingURL=data:application/json;base64,${data} */`
}

/** In source maps, sources are relative to the file. */
const relativeMap = (json: string, path: string) =>
  withSources(json, source => posix.relative(dirname(path), withoutNamespace(source)))

function withSources(json: string, change: (source: string) => string): string {
  const map = JSON.parse(json) as { readonly sources: readonly string[] }
  return JSON.stringify({ ...map, sources: map.sources.map(change) })
}

function asCompileError(error: unknown, { source: { file } }: Unfinished): unknown {
  const [first] = (error as Partial<Esbuild.BuildFailure>).errors ?? []
  return first ? new CompileError(first.text, { file }, { cause: error }) : error
}
