// Finds files of packages that the option names by their paths, and what these refer to in their package.
import { dirname, extname, join } from 'node:path'
import { entriesGiven } from '../../../runtime/check-options.ts'
import { realpathOf, statOf } from '../../../runtime/files/disk.ts'
import { observe, type Observation } from '../../../publishing/sources/observation.ts'
import { readSnapshot } from '../../../runtime/files/open-file.ts'
import { isInside, pathFrom, withSlashes } from '../../../runtime/files/paths.ts'
import type { AssetError } from '../../../runtime/errors.ts'
import { isBare, loadModuleLexer } from '../../../publishing/references/modules.ts'
import { findReferences, type Reference } from '../../../publishing/references/references.ts'
import type { SourceFile } from '../../../runtime/app/extra.ts'
import type { AppSettings } from '../../../runtime/settings/settings.ts'
import { decodeIfValid, isCanonicalBelow } from '../../../runtime/urls/spelling.ts'
import { allOf, DOTTED, OPTION, unusable, type Package, type Packages } from '../packages.ts'
import { FOLDER } from '../resolving.ts'

const TYPES: Readonly<Record<string, 'css' | 'js'>> = { '.css': 'css', '.js': 'js', '.mjs': 'js' }

/** @throws AssetError for those that are not there, and for what their package does not have */
export async function namedFiles(
  { packages: given, dir }: Pick<AppSettings, 'packages' | 'dir'>,
  packages: Packages,
  read: Observation[]
): Promise<readonly SourceFile[]> {
  const found = new Map<string, SourceFile>()
  const problems = new Array<AssetError>()
  const records = given.filter(each => typeof each === 'object')
  for (const [name, paths] of records.flatMap(entriesGiven)) {
    const from = await packages.placeOf(name, join(dir, 'index.js'))
    const of = await packages.installed(name, OPTION, from)
    for (const path of [paths].flat()) {
      const file = await fileIn(of, path)
      packages.looked.add(join(of.directory, path))
      const advice = `look for it in ${of.directory}`
      if (file) found.set(file.name, file)
      else problems.push(unusable(`${name} has no file ${path}, which ${OPTION} names: ${advice}`))
    }
  }
  // It grows while it is followed.
  for (const { name, file, directory, packageName = '' } of found.values()) {
    for (const { kind, path } of await referencesIn(file, read)) {
      const target = pathFrom(directory, join(dirname(file), path))
      const to = await fileIn({ name: packageName, directory }, target)
      const what = `${name} imports '${path}', which its package does not have`
      if (to) found.set(to.name, found.get(to.name) ?? to)
      else if (kind === 'import')
        problems.push(unusable(`${what}: name the package, packages: ['${packageName}']`))
    }
  }
  if (problems.length > 0) throw allOf(problems)
  return [...found.values()]
}

export async function fileIn(
  { name, directory }: Package,
  path: string
): Promise<SourceFile | undefined> {
  const file = isCanonicalBelow(path) ? await realpathOf(join(directory, path)) : undefined
  if (file === undefined || !isInside(directory, file)) return undefined
  if (DOTTED.test(withSlashes(file.slice(directory.length)))) return undefined
  if (!(await statOf(file))?.isFile()) return undefined
  return { name: `${FOLDER}${name}/${path}`, file, directory, packageName: name }
}

async function referencesIn(file: string, read: Observation[]) {
  const type = TYPES[extname(file).toLowerCase()]
  const readAt = Date.now()
  const snapshot = type && (await readSnapshot(file))
  if (!snapshot) return []
  read.push(observe(file, snapshot, readAt))
  const code = snapshot.bytes.toString()
  const inModule = type === 'js' ? (await loadModuleLexer()).find(code).references : []
  return [...findReferences(type, code), ...inModule].flatMap(asPath)
}

function asPath(reference: Reference): { kind: string; path: string }[] {
  const path = decodeIfValid(reference.path)
  const isElsewhere = path === undefined || /^(?:\/|[a-z][a-z\d+.-]*:|$)/i.test(path)
  return isElsewhere || isBare(reference) ? [] : [{ kind: reference.kind, path }]
}
