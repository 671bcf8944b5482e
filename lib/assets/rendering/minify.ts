// Smaller stylesheets and scripts for production, with maps that lead back to what a person wrote.
//
// A source is minified before its references have their URLs: then it may be remembered whatever the
// digests of others become, and esbuild tells of faults where they stand in the source. The URLs move
// what follows them in the map; finish-build.ts moves it as well (shift-map.ts).
import { isUtf8 } from 'node:buffer'
import { basename, dirname, extname, isAbsolute, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Esbuild from 'esbuild'
import { CompileError } from '../../errors.ts'
import { scriptError } from '../compilers/esbuild.ts'
import { repairMap } from './repair-map.ts'
import { ESBUILD, loadPeer, type Load } from '../compilers/peers.ts'
import { findReferences, replaceReferences } from './references.ts'
import { draft, type Draft } from './render.ts'
import { resolveReference } from './resolve-reference.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Source } from '../sources/catalog.ts'
import type { Sources } from '../sources/sources.ts'
import { readContent } from '../../files/content.ts'

/** Where a draft comes from. */
interface Place {
  readonly app: AppSettings
  readonly name: string
  readonly source: Source
}

interface Project {
  readonly settings: Settings
  readonly sources: Sources
}

export interface Minified {
  readonly draft: Draft
  /** What esbuild finds odd, each with its place. */
  readonly warnings: readonly string[]
}

/** @throws CompileError for a source that cannot be read as CSS or JavaScript */
export type Minify = (project: Project, place: Place, drafted: Draft) => Promise<Minified>

/** Stylesheets and scripts, unless somebody has minified them already. */
export function isMinifiable(name: string): boolean {
  return /\.(?:css|m?js)$/i.test(name) && !/\.min\.\w+$/i.test(name)
}

/**
 * @param root the project's: its own esbuild comes before ours
 * @throws AssetError when esbuild is not installed; `load` is a parameter so that this can be shown
 */
export async function loadMinifier(load: Load = loadPeer, root?: string): Promise<Minify> {
  const esbuild = (await load(ESBUILD, 'minifying', root)) as typeof Esbuild
  return async (project, place, drafted) => {
    const bytes = await readContent(drafted.content)
    // What is of another encoding stays as it is.
    if (bytes.length === 0 || !isUtf8(bytes)) return { draft: drafted, warnings: [] }
    const { code, inputs, isSettled } = await withMapInline(project, place, drafted, bytes)
    const result = await transform(esbuild, place, code)
    const type = loaderOf(place.name)
    const references = findReferences(type, result.code)
    const dependencies = drafted.text?.dependencies ?? []
    const small: Draft = {
      ...drafted,
      content: Buffer.from(result.code),
      text: references.length > 0 ? { code: result.code, references, dependencies } : undefined,
      inputs: [...drafted.inputs, ...inputs],
      isSettled: drafted.isSettled && isSettled,
      map: relativeMap(type === 'css' ? repairMap(result.map, code) : result.map, place.source)
    }
    const warnings = result.warnings.map(warning => asText(project.settings, place, warning))
    return { draft: small, warnings }
  }
}

/** Not more than what esbuild does without being asked: no format, so that a script's own names stay. */
async function transform(esbuild: typeof Esbuild, { name, source }: Place, code: string) {
  try {
    return await esbuild.transform(code, {
      loader: loaderOf(name),
      minify: true,
      sourcemap: 'external',
      sourcesContent: true,
      sourcefile: basename(source.file),
      legalComments: 'inline',
      charset: 'utf8'
    })
  } catch (error) {
    const told = scriptError(error, source.file)
    if (!source.compiler || !(told instanceof CompileError)) throw told
    // The line is one of the compiler's result, which nobody sees.
    const reason = `what it compiles to cannot be minified: ${told.reason}`
    throw new CompileError(reason, { file: source.file }, { cause: error })
  }
}

function loaderOf(name: string): 'css' | 'js' {
  return extname(name).toLowerCase() === '.css' ? 'css' : 'js'
}

/** Esbuild chains a map that stands in the text itself: one that lies beside it is put there. */
async function withMapInline(project: Project, place: Place, drafted: Draft, bytes: Uint8Array) {
  const code = new TextDecoder().decode(bytes)
  const { references = [], dependencies = [] } = drafted.text ?? {}
  const linked = references.findLast(({ kind }) => kind === 'source-map')
  const { settings, sources } = project
  const asker = { ...place, dependencies }
  const found = linked && (await resolveReference(settings, sources, asker, linked))
  // Where it is not beside its text, another one may come to be found before it.
  const isSettled = !linked
  if (!found || found === 'elsewhere') return { code, inputs: [], isSettled }
  const source = await sources.of(found.app).find(found.name)
  const map = source && (await draft(settings, [], found.name, source))
  if (!map) return { code, inputs: [], isSettled }
  const data = Buffer.from(await readContent(map.content)).toString('base64')
  const url = `data:application/json;base64,${data}`
  return {
    code: replaceReferences(code, [{ ...linked, suffix: '' }], [url]),
    inputs: map.inputs,
    isSettled: source.file === join(dirname(place.source.file), linked.path)
  }
}

/** Compilers and other people's tools name sources absolutely, which tells of a machine. */
function relativeMap(json: string, { file }: Source): string {
  const map = JSON.parse(json) as { sources: string[] }
  const sources = map.sources.map(given => {
    const path = given.startsWith('file:///') ? fileURLToPath(given) : given
    return isAbsolute(path) ? relative(dirname(file), path).split(sep).join('/') : given
  })
  return JSON.stringify({ ...map, sources })
}

function asText({ root }: Settings, { source }: Place, { text, location }: Esbuild.Message) {
  const file = relative(root, source.file)
  if (!location || source.compiler) return `${file}: ${text}`
  return `${file}:${location.line}:${location.column + 1}: ${text}`
}
