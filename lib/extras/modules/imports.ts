// Finds the imports of the application's own modules after compilation, which removes types and adds those for JSX.
import { dirname, resolve } from 'node:path'
import {
  hasSameInputs,
  isFileObservation,
  observeAll,
  recheck,
  type Observation
} from '../../publishing/sources/observation.ts'
import { isBuiltIn } from '../../publishing/compilers/built-in.ts'
import { isBare } from '../../publishing/references/modules.ts'
import { draft, type Draft } from '../../publishing/rendering/draft.ts'
import type { OwnSources, Project, SourceFile } from '../../runtime/app/extra.ts'
import { inParallel } from '../../runtime/concurrency.ts'
import { AssetError } from '../../runtime/errors.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import type { AppSettings } from '../../runtime/settings/settings.ts'
import { isPackage } from './options.ts'

export interface Imported {
  /** The absolute path of the script, without links. */
  readonly file: string
  readonly specifier: string
  readonly isStatic: boolean
  readonly names: readonly string[]
  /** The absolute path to which it leads, as written; undefined for a package. */
  readonly to?: string | undefined
}

export interface ScriptImports {
  readonly imports: readonly Imported[]
  inputs: readonly Observation[]
  /** The draft in which they were found, kept until it is published, so that no script is compiled twice. */
  draft?: Draft | undefined
  readonly isMapped: boolean
}

const MAX_DRAFTS = 2000

/** @param known the imports of each script, by its file, which are found again if an input has changed */
export async function importedBy(
  scripts: readonly SourceFile[],
  app: AppSettings & { readonly minify?: boolean | undefined },
  project: Project,
  { loadPaths }: OwnSources,
  known: Map<string, ScriptImports>
): Promise<readonly ScriptImports[]> {
  const { env, isPrecompile, transforms } = project
  // Texts that are minified later are compiled with a map.
  const isMapped = env === 'development' || (isPrecompile && app.minify !== false)
  // Nothing is loaded for an app without scripts.
  const isLowered = scripts.length > 0 && (await transforms()).some(each => each.targetOf?.(app))
  const given = { loadPaths, project, sourceMap: isMapped || isLowered }
  const looks: Record<string, ReturnType<typeof look>> = {}
  const look = (each: Observation): Promise<Observation | undefined> =>
    (looks[keyOf(each)] ??= recheck(each))
  const found = await inParallel(scripts, 16, async script => {
    const last = known.get(script.file)
    return last && (await hasSameInputs(last, look)) ? last : importsOf(script, app, given)
  })
  known.clear()
  for (const [at, { file }] of scripts.entries()) known.set(file, found[at] as ScriptImports)
  for (const each of found.slice(MAX_DRAFTS)) each.draft = undefined
  return found
}

/** Removes duplicates: scripts share settings, and folders without any, which are then checked once. */
export const distinct = (all: readonly Observation[]) => [
  ...new Map(all.map(each => [keyOf(each), each])).values()
]

function keyOf(each: Observation): string {
  const seen = isFileObservation(each) ? [each.digest, ...Object.values(each.stamp)] : each.absent
  return [each.path, ...seen].join('\n')
}

/** Tells whether a script may import a package, by the source texts, so that nothing is compiled for it. */
export async function mayImport(scripts: readonly SourceFile[], { imports }: AppSettings) {
  const found = await inParallel(scripts, 16, async ({ file, compiler }) => {
    // Other compilers may add imports, as for JSX and single-file components.
    if (compiler && !(isBuiltIn(compiler) && /\.m?ts$/i.test(file))) return true
    const read = await readSnapshot(file)
    const named = importsIn(read?.bytes.toString() ?? '').map(({ specifier }) => specifier)
    // `#date` may be a package by package.json.
    return named.some(name => (name[0] === '#' || isPackage(name)) && !imports.has(name))
  })
  return found.includes(true)
}

async function importsOf(
  script: SourceFile,
  app: AppSettings,
  given: Parameters<typeof draft>[2] & { readonly sourceMap: boolean }
): Promise<ScriptImports> {
  const { name, file, directory } = script
  const asset = { app, source: { ...script, from: 0, path: name, tail: name }, path: name }
  const place = { root: directory, dir: directory, symlinks: given.project.symlinks }
  try {
    const drafted = await draft(asset, place, given)
    const { code = '', references = [] } = drafted?.text ?? {}
    const written = importsIn(code)
    const imports = references.flatMap((each): Imported | readonly [] => {
      const { kind, path, lead } = each
      if (kind !== 'import' && kind !== 'dynamic-import') return []
      const names = written.flatMap(({ specifier, names }) => (specifier === path ? names : []))
      const to = isBare(each) ? lead?.file : resolve(dirname(file), path)
      return { file, specifier: path, isStatic: kind === 'import', names, to }
    })
    const inputs = drafted?.inputs ?? (await observeAll([file]))
    return { imports, inputs, draft: drafted, isMapped: given.sourceMap }
  } catch (error) {
    // The error is reported with the source itself.
    if (!(error instanceof AssetError)) throw error
    return { imports: [], inputs: await observeAll([file]), isMapped: false }
  }
}

const IMPORT =
  /(?:\{(?<list>[^{}]*)\}\s*from|\*\s*as\s+(?<all>[\w$]+)\s+from|\b(?:from|import))\b(?:[\s(]|\/\*(?:[^*]|\*(?!\/))*\*\/|\/\/[^\n]*\n)*(["'`])(?<specifier>[^"'`\n]+)\3/g

/** Returns the imports in a text, written or compiled, even those in comments. */
export function importsIn(code: string) {
  return Array.from(code.matchAll(IMPORT), ({ groups = {} }) => {
    const { list = '', all, specifier = '' } = groups
    const names = [...namesIn(list), ...(all === undefined ? [] : membersIn(code, all))]
    return { specifier, names: names.filter(name => name !== 'default') }
  })
}

const namesIn = (list: string) =>
  list.split(',').flatMap(each => /^\s*([\w$]+)/.exec(each)?.[1] ?? [])

/** Returns the members of a namespace, `kit.add` or `const { add } = kit`: CommonJS exports those that are asked for. */
function membersIn(code: string, namespace: string): string[] {
  const own = namespace.replaceAll('$', '\\$')
  const member = `(?<![\\w$.])${own}\\s*\\??\\.\\s*([\\w$]+)`
  const used = new RegExp(`${member}|\\{([^{}]*)\\}\\s*=\\s*${own}(?![\\w$.([])`, 'g')
  return Array.from(code.matchAll(used), ([, name, list = '']) => name ?? namesIn(list)).flat()
}
