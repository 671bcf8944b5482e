// Finds what a reference that leads nowhere most likely stands for, and which option would publish a file that is there.
import { basename, dirname, join, posix } from 'node:path'
import { statOf } from '../../files/disk.ts'
import { isInside, pathFrom } from '../../files/paths.ts'
import { didYouMean, nearestPath } from '../../nearest.ts'
import { assetPath, type AppSettings } from '../settings/app-settings.ts'
import type { Asset } from '../sources/app-sources.ts'

/** Each name is compared with each reference. */
const MAX_COMPARED = 5000

/**
 * Returns what to write instead, as a question; undefined when nothing resembles it.
 * @param listed the assets that it may lead to
 * @param files the absolute paths of the files that it may be written in, the source first
 * @param isWritten true if it names a source, as `./money.ts` does
 */
export function nearReference(
  path: string,
  listed: readonly Asset[],
  files: readonly string[],
  isWritten: boolean
): string | undefined {
  const own = listed.filter(
    ({ source }) => source.packageName === undefined && source.file !== files[0]
  )
  const at = new Set(files.map(file => join(dirname(file), path)))
  const raw = own.find(({ source }) => source.compiler && at.has(source.file))
  if (raw) {
    const meant = posix.join(posix.dirname(path), basename(raw.name))
    return `did you mean '${asWritten(meant, path)}'? ${raw.source.path} is published under that name`
  }
  const folder = dirname(files[0] ?? '')
  const isUrl = path.startsWith('/')
  const known = own.slice(0, MAX_COMPARED).map(({ app, name, source: { file } }) => {
    const written = isWritten ? file : join(dirname(file), basename(name))
    return isUrl ? assetPath(app, name) : pathFrom(folder, written)
  })
  const near = nearestPath(isUrl ? path : pathFrom(folder, join(folder, path)), known)
  return near === undefined ? undefined : didYouMean(path, asWritten(near, path))
}

/** Returns the option that would publish a file which is there, such as a font beside the stylesheet of a package. */
export async function unpublished(
  path: string,
  { dir, sources }: AppSettings,
  files: readonly string[]
): Promise<string | undefined> {
  for (const file of files) {
    const found = join(dirname(file), path)
    if (sources.some(source => isInside(source.dir, found))) continue
    if (!(await statOf(found))?.isFile()) continue
    const folder = pathFrom(dir, dirname(found))
    return `the file is there, but no option publishes it: add '${folder}' to sources`
  }
  return undefined
}

function asWritten(meant: string, path: string): string {
  return path.startsWith('./') && !meant.startsWith('.') ? `./${meant}` : meant
}
