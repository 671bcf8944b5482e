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
  const isFile = statIfThere(project.publicDir)?.isDirectory() === false
  const reason = whyPrivate(project, project.publicDir)
  if (!isFile && reason === undefined) return
  const message = isFile
    ? `public must be a directory, but ${given} is a file: move it, or set public to another path`
    : `everything in public is served, but ${given} ${reason}: set public to a directory of its own, such as public: 'public'`
  throw new AssetError('public-unusable', message)
}

/** Why a directory may not be served; completes "public …". */
export function whyPrivate({ root, apps }: Project, directory: string): string | undefined {
  return exposed(
    futureRealpath(directory),
    statIfThere(join(directory, PACKAGE)) !== undefined,
    futureRealpath(root),
    sourcesOf(apps).map(source => [relative(root, source), futureRealpath(source)])
  )
}

/** Whether a directory may be served, found out while requests wait. @param real its real path */
export async function mayBeServed({ root, apps }: Project, real: string): Promise<boolean> {
  const sources = sourcesOf(apps)
  const [realRoot, ...places] = await Promise.all([root, ...sources].map(realpathOf))
  const isPackage = (await statOf(join(real, PACKAGE))) !== undefined
  const named = sources.map((source, at): Source => [source, places[at]])
  return realRoot !== undefined && exposed(real, isPackage, realRoot, named) === undefined
}

const PACKAGE = 'package.json'
const PACKAGES = /[/\\]node_modules(?:[/\\]@[^/\\]*)?$/
const INSTALLED = /^.*[/\\]node_modules[/\\](?:@[^/\\]+[/\\])?[^/\\@.][^/\\]*/

type Source = readonly [shown: string, real: string | undefined]

/** What a directory would expose, by real paths: what a link leads to is served as well. */
function exposed(
  real: string,
  isPackage: boolean,
  realRoot: string,
  sources: readonly Source[]
): string | undefined {
  if (isInside(real, realRoot)) return "is the project's root, or contains it"
  if (PACKAGES.test(real)) return 'contains all installed packages'
  // Anybody can read an installed package, unless it is the project.
  const [installed] = INSTALLED.exec(real) ?? []
  const isPublished = installed !== undefined && !isInside(installed, realRoot)
  if (isPackage && !isPublished) return 'contains a package.json'
  for (const [shown, source] of sources) {
    if (source === undefined) continue
    if (isInside(real, source)) return `contains the source directory ${shown}`
    if (isInside(source, real)) return `is inside the source directory ${shown}`
  }
  return undefined
}

function sourcesOf(apps: Project['apps']): readonly string[] {
  return [...new Set(apps.flatMap(app => app.sources.map(({ dir }) => dir)))]
}
