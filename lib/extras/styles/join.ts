// Replaces stylesheets by those with their imports in them, which esbuild joins.
import { dirname, posix } from 'node:path'
import type * as Esbuild from 'esbuild'
import { MAP, type Unfinished } from '../../publishing/building/links.ts'
import type { Bundler, Project, Transform } from '../../runtime/app/parts.ts'
import { finish } from '../../publishing/rendering/draft.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { decodeIfValid, encodePath } from '../../runtime/urls/spelling.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { CompileError } from '../../runtime/errors.ts'
import { readContent } from '../../runtime/files/open-file.ts'
import { linked, nodeOf, pathsOf } from '../modules/joining/bundler.ts'
import { modeOf } from '../modules/options.ts'
import { esbuildOrReason, inlineMapOf, withInlineMap } from './esbuild.ts'
import type { StyleRows } from './options.ts'
import { planOf, type Nodes, type Plan } from './plan.ts'

const CONCURRENCY = 8

export function makeBundler(
  { root, apps }: Project,
  sources: Sources,
  transforms: readonly Transform[]
): Bundler<Map<string, Unfinished>> {
  let sheets: StyleRows['sheets']
  return {
    // References of stylesheets are resolved as those of others are.
    takes: () => false,
    async join(nodes, mentions) {
      const plan = planOf(nodes)
      if (plan.size === 0) return undefined
      // Without it a browser follows the imports, as in development.
      const esbuild = await esbuildOrReason('joining stylesheets', root)
      if (typeof esbuild === 'string') {
        sheets = { files: 0, imports: 0, problem: esbuild }
        return undefined
      }
      const named = new Set<string>()
      for (const app of apps)
        for (const path of await pathsOf(mentions, app, sources)) named.add(path)
      const plugin = sheetsFrom(nodes, plan)
      const gone = inOthers(nodes, plan, named)
      const files = [...plan.keys()].filter(path => !gone.has(path))
      const made = await inParallel(files, CONCURRENCY, async path => {
        const node = nodes.get(path) as Unfinished
        const isMinified = transforms.some(each => each.minifies(node.app))
        return nodeOf(await join(esbuild, node, plugin, isMinified), node.app, nodes)
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

/** esbuild writes it in front of the paths in source maps. */
const SHEET = 'sheet'

async function join(
  esbuild: typeof Esbuild,
  { path, name, source: { file } }: Unfinished,
  plugin: Esbuild.Plugin,
  isMinified: boolean
) {
  const result = await esbuild
    .build({
      entryPoints: [path],
      bundle: true,
      write: false,
      outdir: '/',
      // The texts are minified already; shortening them here would change colors.
      minifyWhitespace: isMinified && !/\.min\.css$/i.test(name),
      sourcemap: 'external',
      metafile: true,
      charset: 'utf8',
      legalComments: 'inline',
      logLevel: 'silent',
      plugins: [plugin]
    })
    .catch((error: Partial<Esbuild.BuildFailure>) => {
      const [first] = error.errors ?? []
      throw first ? new CompileError(first.text, { file }, { cause: error }) : error
    })
  const [map, sheet] = ['.map', ''].map(ending =>
    result.outputFiles.find(each => each.path.endsWith(`.css${ending}`))
  )
  const others = Object.keys(result.metafile.inputs).map(withoutNamespace)
  // In source maps, sources are relative to the file.
  const relative = (each: string) => posix.relative(dirname(path), withoutNamespace(each))
  return {
    name,
    code: sheet?.text ?? '',
    map: withSources(map?.text ?? '{"sources":[]}', relative),
    from: [path, ...others.filter(each => each !== path)] as const
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
        // The folder of the joined file may be another.
        const isRelative = !/^(?:[a-z][a-z\d+.-]*:|[/#?]|$)/i.test(path)
        const url = isRelative ? posix.join(dirname(encodePath(importer)), path) : path
        return { path: url, external: true }
      })
      build.onLoad({ filter: /.*/, namespace: SHEET }, async ({ path }) => ({
        contents: await textOf(nodes.get(path) as Unfinished),
        loader: 'css'
      }))
    }
  }
}

/** Returns the text with plain URLs, and its source map. */
async function textOf({ draft, links, path }: Unfinished): Promise<string> {
  const urls = links.map(to => (to === undefined || to === path + MAP ? undefined : encodePath(to)))
  const code = new TextDecoder().decode(await readContent(finish(draft, urls)))
  const json = draft.map ?? inlineMapOf(code)
  if (json === undefined) return code
  // esbuild would take them as relative to a folder of the disk.
  const inSheets = (source: string) => `${SHEET}:${posix.join(dirname(path), source)}`
  return withInlineMap(code, withSources(json, inSheets))
}

function withSources(json: string, change: (source: string) => string): string {
  const map = JSON.parse(json) as { readonly sources: readonly string[] }
  return JSON.stringify({ ...map, sources: map.sources.map(change) })
}
