// Checks the public directory at start: everything in it is served, so nothing private may be in it.
import { join, relative } from 'node:path'
import { AssetError } from '../../errors.ts'
import type { AppSettings } from './app-settings.ts'
import { futureRealpath, statIfThere } from '../../files/at-start.ts'
import { isInside, realpathOf, statOf } from '../../files/disk.ts'

/** The file in `public` for a decoded URL path; absolute. */
export function publicFile({ publicDir }: { readonly publicDir: string }, path: string): string {
  return join(publicDir, path)
}

/** What a directory that is served may not expose. */
export interface Project {
  readonly root: string
  readonly apps: readonly AppSettings[]
}

/**
 * @param given the value of the option
 * @throws AssetError for a file, and for a directory that would expose the project itself
 */
export function checkPublic(
  project: Project & { readonly publicDir: string },
  given: string
): void {
  const stats = statIfThere(project.publicDir)
  if (stats && !stats.isDirectory()) {
    const message = `public must be a directory, but ${given} is a file: move it, or set public to another path`
    throw new AssetError('public-unusable', message)
  }
  const reason = whyPrivate(project, project.publicDir)
  if (reason === undefined) return
  throw new AssetError(
    'public-unusable',
    `everything in public is served, but ${given} ${reason}: set public to a directory of its own, such as public: 'public'`
  )
}

/**
 * Why a directory may not be served. Compares real paths: what a link leads to is served as well.
 * @returns completes "public …"
 */
export function whyPrivate({ root, apps }: Project, directory: string): string | undefined {
  const real = futureRealpath(directory)
  const realRoot = futureRealpath(root)
  if (isInside(real, realRoot)) return "is the project's root, or contains it"
  if (PACKAGES.test(real)) return 'contains all installed packages'
  if (!isInstalled(real, realRoot) && statIfThere(join(directory, PACKAGE)))
    return 'contains a package.json'
  for (const source of sourcesOf(apps)) {
    const [shown, realSource] = [relative(root, source), futureRealpath(source)]
    if (isInside(real, realSource)) return `contains the source directory ${shown}`
    if (isInside(realSource, real)) return `is inside the source directory ${shown}`
  }
  return undefined
}

/** Whether a directory is none of these, judged while requests wait. @param real its real path */
export async function mayBeServed({ root, apps }: Project, real: string): Promise<boolean> {
  const [realRoot, ...realSources] = await Promise.all([root, ...sourcesOf(apps)].map(realpathOf))
  if (realRoot === undefined || isInside(real, realRoot) || PACKAGES.test(real)) return false
  if (!isInstalled(real, realRoot) && (await statOf(join(real, PACKAGE)))) return false
  return realSources.every(
    source => source === undefined || !(isInside(real, source) || isInside(source, real))
  )
}

const PACKAGE = 'package.json'
const PACKAGES = /[/\\]node_modules(?:[/\\]@[^/\\]*)?$/
const INSTALLED = /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\@.][^/\\]*/

/** Whether a directory is part of a package that anybody can read, and not of the one that is the project. */
function isInstalled(real: string, realRoot: string): boolean {
  const [directory] = INSTALLED.exec(real) ?? []
  return directory !== undefined && !isInside(directory, realRoot)
}

function sourcesOf(apps: Project['apps']): ReadonlySet<string> {
  return new Set(apps.flatMap(app => app.sources))
}
