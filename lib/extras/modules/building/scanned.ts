// Lists modules of packages as they were written, for a build that joins them with those of the app.
import { dirname } from 'node:path'
import type { KnownImports, SourceFile } from '../../../runtime/app/parts.ts'
import type { Scanned } from './build.ts'
import { FOLDER } from '../resolving.ts'

export interface Listed {
  readonly files: readonly SourceFile[]
  readonly imports: KnownImports
  /** The names that specifiers in modules of packages lead to, by specifier, by the name of the importer. */
  readonly inside: ReadonlyMap<string, ReadonlyMap<string, string>>
}

/** The module of a specifier has the name that it has in a build, `npm/preact/hooks.js`; others that of their file. */
export function listScanned({ entries, modules, files, packages }: Scanned): Listed {
  const names = new Map<string, string>()
  const everywhere = new Map<string, string>()
  const taken = new Set<string>()
  for (const [specifier, file] of entries) {
    const name = names.get(file) ?? `${FOLDER}${specifier}.js`
    names.set(file, name)
    taken.add(name)
    everywhere.set(specifier, name)
  }
  const sorted = modules.toSorted((a, b) => (a.file < b.file ? -1 : 1))
  const listed = sorted.map(({ file }): SourceFile => {
    const { directory = dirname(file), name: packageName } = packages.homeOf(file) ?? {}
    const path = packages.pathOf(file) ?? ''
    const own = FOLDER + (/\.m?js$/.test(path) ? path : `${path}.js`)
    const name =
      names.get(file) ?? (taken.has(own) ? `${FOLDER}-/${own.slice(FOLDER.length)}` : own)
    names.set(file, name)
    const specifiers = [...entries].flatMap(([specifier, to]) => (to === file ? specifier : []))
    return {
      name,
      file,
      directory,
      specifiers: specifiers.length > 0 ? specifiers : undefined,
      packageName
    }
  })
  const inside = modules.map(({ file, imports }) => {
    const known = Array.from(imports, ([specifier, to]) => [specifier, names.get(to)] as const)
    const there = known.filter((each): each is [string, string] => each[1] !== undefined)
    return [names.get(file) ?? '', new Map(there)] as const
  })
  return {
    files: [...listed, ...files],
    imports: { names: everywhere, links: new Map() },
    inside: new Map(inside)
  }
}
