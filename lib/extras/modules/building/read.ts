// Reads packages whose modules are joined with those of the app, and lists them.
import { basename, join } from 'node:path'
import type { Plugin } from 'rolldown'
import { CompileError } from '../../../runtime/errors.ts'
import type { KnownImports, SourceFile } from '../../../runtime/app/extra.ts'
import type { Compiler } from '../../../runtime/settings/compiler.ts'
import { inlineMap } from '../../../publishing/compilers/compiler.ts'
import { asUnusable, DATA, ENTRY, FOLDER, Resolved, resolving, type Needed } from '../resolving.ts'
import type { Rolldown } from '../rolldown.ts'
import { inputOf, SHARED, type Built } from './build.ts'
import { urls } from './urls.ts'

export interface Listed extends Partial<Pick<Built, 'failed'>> {
  readonly files: readonly SourceFile[]
  readonly imports: KnownImports
  /** Names by specifier, by the name of the importing module; undefined for a build, whose modules have URLs. */
  readonly inside?: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** Only reads the modules, and lists them as written. @throws AssetError for modules that cannot be built */
export async function readPackages(loaded: Rolldown, wanted: Needed) {
  const resolved = new Resolved(wanted.root)
  const { entries, workers } = resolved
  const modules = new Map<string, readonly string[]>()
  const reading: Plugin = {
    name: 'reading',
    resolveId: specifier =>
      specifier.startsWith(ENTRY)
        ? (entries.get(specifier.slice(ENTRY.length)) ?? specifier)
        : null,
    // The specifier may end in `.css`, by which Rolldown would judge it.
    load: id => (id.startsWith(ENTRY) ? { code: 'export {}', moduleType: 'js' } : null),
    moduleParsed({ id, inputFormat, importedIds, dynamicallyImportedIds }) {
      // Rolldown follows the modules that CommonJS requires.
      modules.set(id, inputFormat === 'es' ? [...importedIds, ...dynamicallyImportedIds] : [])
    }
  }
  const plugins = [reading, resolving(wanted, resolved), urls(resolved, loaded)]
  const build = await loaded.rolldown({ ...inputOf(wanted), plugins })
  try {
    await build.generate({ dir: join(wanted.root, 'dist'), format: 'es' })
    resolved.requireNoFailure()
  } catch (error) {
    throw asUnusable(error, wanted.root)
  } finally {
    await build.close()
  }
  const reached = new Set([...entries.values(), ...workers])
  for (const id of reached)
    for (const to of modules.get(id) ?? []) if (modules.has(to)) reached.add(to)
  return listRead([...reached].toSorted(), resolved, loaded)
}

export function specifiersOf(to: string, targets: ReadonlyMap<string, string>) {
  const found = [...targets].flatMap(([specifier, target]) => (target === to ? specifier : []))
  return found.length > 0 ? found : undefined
}

/** Lists modules. That of a specifier is named as in a build, `npm/preact/hooks.js`, others by their file. */
function listRead(modules: readonly string[], resolved: Resolved, loaded: Rolldown): Listed {
  const { entries, packages, targets } = resolved
  const names = new Map<string, string>()
  for (const [specifier, file] of entries)
    names.set(file, names.get(file) ?? `${FOLDER}${specifier}.js`)
  const taken = new Set(names.values())
  const files = modules.map((file): SourceFile => {
    const path = packages.pathOf(file) ?? ''
    const own = /\.m?js$/.test(path) ? path : `${path}.js`
    const name = names.get(file) ?? (taken.has(FOLDER + own) ? SHARED : FOLDER) + own
    names.set(file, name)
    // Two versions in a store outside of the project may have the same name.
    taken.add(name)
    const [specifiers, compiler] = [specifiersOf(file, entries), compilerFor(file, loaded)]
    return { ...resolved.sourceOf(name, file), specifiers, compiler }
  })
  const namesOf = (found: ReadonlyMap<string, string> = new Map()) =>
    new Map(
      [...found].flatMap(([from, file]) => (names.has(file) ? [[from, names.get(file) ?? '']] : []))
    )
  return {
    files: [...files, ...resolved.otherFiles()],
    imports: { names: namesOf(entries), links: new Map() },
    inside: new Map(modules.map(file => [names.get(file) ?? '', namesOf(targets.get(file))]))
  }
}

/** Returns a compiler to JavaScript for files that Rolldown, by their name, reads as something else. */
function compilerFor(file: string, { transform }: Rolldown): Compiler | undefined {
  const [extension] = /\.(?:json|txt|[cm]?ts|[jt]sx)$/.exec(file) ?? []
  if (extension === undefined) return undefined
  const compile: Compiler['compile'] = async ({ code, path, sourceMap }) => {
    // Rolldown reads the data again, and gives it the exports that importers need.
    if (DATA.test(path)) return { code: `export default ${JSON.stringify(code)}` }
    const made = await transform(basename(path), code, { sourcemap: sourceMap === true })
    const [error] = made.errors
    if (error) throw new CompileError(error.message, { file: path })
    return { code: made.code + (made.map ? inlineMap(JSON.stringify(made.map)) : '') }
  }
  return { extensions: extension, target: '.js', compile }
}
