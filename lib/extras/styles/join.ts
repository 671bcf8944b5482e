// Replaces stylesheets with versions that contain their imports, joined by esbuild.
import { dirname, posix } from 'node:path'
import type * as Esbuild from 'esbuild'
import { MAP } from '../../publishing/building/links.ts'
import type { Project } from '../../runtime/app/extra.ts'
import type { Bundler, Transform } from '../../runtime/app/transform.ts'
import type { Draft } from '../../publishing/rendering/draft.ts'
import type { Sources } from '../../publishing/sources/sources.ts'
import { decodeIfValid, encodePath } from '../../runtime/urls/spelling.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { CompileError } from '../../runtime/errors.ts'
import { linked, nodeOf, pathsOf } from '../modules/joining/bundler.ts'
import { joinModeOf } from '../modules/options.ts'
import type { StyleRows } from './options.ts'
import { plainText, type Nodes } from '../modules/joining/scripts.ts'
import { planOf, type Plan } from './plan.ts'
import { brokenMap } from '../../publishing/rendering/source-map.ts'
import { esbuildOrReason, withInlineMap } from './transform.ts'

const CONCURRENCY = 8

export function makeBundler(
  { root, apps }: Project,
  sources: Sources,
  transforms: readonly Transform[]
): Bundler<Map<string, Draft>> {
  let sheets: StyleRows['sheets']
  return {
    async join(nodes, mentions) {
      const plan = planOf(nodes)
      if (plan.size === 0) return []
      // Without esbuild, browsers follow the imports, as in development.
      const esbuild = await esbuildOrReason('joining stylesheets', root)
      if (typeof esbuild === 'string') {
        sheets = { files: 0, imports: 0, problem: esbuild }
        return []
      }
      const named = await inParallel(apps, 1, app => pathsOf(mentions, app, sources))
      const joined = [...plan.values()].flatMap(paths => [...paths])
      // A stylesheet stays if anything else loads it than those into which it is joined.
      const loaded = new Set(named.flat())
      for (const { path, links = [] } of nodes.values())
        for (const to of links) if (to !== undefined && !plan.get(path)?.has(to)) loaded.add(to)
      const gone = new Set(joined.filter(path => isOwn(nodes.get(path)) && !loaded.has(path)))
      const broken = new Set<string>()
      const plugin = sheetsFrom(nodes, plan, broken)
      const files = [...plan.keys()].filter(path => !gone.has(path))
      const made = await inParallel(files, CONCURRENCY, async path => {
        const node = nodes.get(path) as Draft
        const isMinified = transforms.some(each => each.minifies?.(node.app))
        return nodeOf(await join(esbuild, node, plugin, isMinified), node.app, nodes)
      })
      for (const path of gone) for (const ending of ['', MAP]) nodes.delete(path + ending)
      for (const node of made) nodes.set(node.path, node)
      for (const node of made) nodes.set(node.path, linked(node, nodes))
      sheets = { files: files.length, imports: joined.length }
      return Array.from(broken, file => brokenMap(file, root))
    },
    report: () => ({ sheets })
  }
}

const isOwn = (node?: Draft) =>
  node?.source.packageName === undefined && node && joinModeOf(node.app) === true

/** The namespace, which esbuild writes before the paths in source maps. */
const SHEET = 'sheet'

async function join(
  esbuild: typeof Esbuild,
  { path, source: { name, file } }: Draft,
  plugin: Esbuild.Plugin,
  isMinified: boolean
) {
  const result = await esbuild
    .build({
      entryPoints: [path],
      bundle: true,
      write: false,
      outdir: '/',
      // The texts are already minified; shortening them here would change colors.
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
  const written = (ending: string) =>
    result.outputFiles.find(each => each.path.endsWith(ending))?.text ?? ''
  const others = Object.keys(result.metafile.inputs).map(withoutNamespace)
  const relative = (each: string) => posix.relative(dirname(path), withoutNamespace(each))
  return {
    name,
    code: written('.css'),
    map: JSON.stringify(withSources(written('.map'), relative)),
    from: [path, ...others.filter(each => each !== path)] as const
  }
}

const withoutNamespace = (path: string) => path.slice(path.indexOf(`${SHEET}:`) + SHEET.length + 1)

/** @param broken gets the files whose source maps cannot be read */
function sheetsFrom(nodes: Nodes, plan: Plan, broken: Set<string>): Esbuild.Plugin {
  return {
    name: SHEET,
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, kind, importer }) => {
        if (kind === 'entry-point') return { path, namespace: SHEET }
        const to = decodeIfValid(path) ?? ''
        const isJoined = kind === 'import-rule' && plan.get(importer)?.has(to)
        if (isJoined) return { path: to, namespace: SHEET }
        // The joined file may be in another folder.
        const isRelative = !/^(?:[a-z][a-z\d+.-]*:|[/#?]|$)/i.test(path)
        const url = isRelative ? posix.join(dirname(encodePath(importer)), path) : path
        return { path: url, external: true }
      })
      build.onLoad({ filter: /.*/, namespace: SHEET }, async ({ path }) => ({
        contents: await textOf(nodes.get(path) as Draft, broken),
        loader: 'css'
      }))
    }
  }
}

async function textOf(node: Draft, broken: Set<string>): Promise<string> {
  const { code, map } = await plainText(node)
  if (map === null) broken.add(node.source.file)
  if (!map) return code
  // esbuild would treat them as relative to a folder on disk.
  const inSheets = (source: string) => `${SHEET}:${posix.join(dirname(node.path), source)}`
  return withInlineMap(code, withSources(map, inSheets))
}

function withSources(json: string, change: (source: string) => string): object {
  const map = JSON.parse(json) as { readonly sources: readonly string[] }
  return { ...map, sources: map.sources.map(change) }
}
