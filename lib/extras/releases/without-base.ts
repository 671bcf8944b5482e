// Finds scripts and stylesheets that a bundler wrote for another base than that of the site.
import { join } from 'node:path'
import { inParallel } from '../../runtime/concurrency.ts'
import { bytesOf } from '../../runtime/files/disk.ts'
import type { ListedFile } from '../telling/listed-mounts.ts'
import type { Problem } from '../../runtime/app/parts.ts'
import type { MountSettings } from '../../runtime/settings/settings.ts'

const CONCURRENCY = 8
const TEXT = /\.(?:[cm]?js|css)$/
// An absolute path is written as a string, or in `url()`.
const ABSOLUTE = /["'`(](\/[^"'`()\s\\?#]+)/g

/** Returns one problem for each file that names another one of the build where no request for it arrives. */
export async function namedWithoutBase(
  { base, dir, urlPath }: MountSettings,
  files: readonly ListedFile[]
): Promise<Problem[]> {
  if (base === '') return []
  const paths = new Set(files.map(({ path }) => path))
  const texts = files.filter(({ path }) => TEXT.test(path))
  const problems = await inParallel(texts, CONCURRENCY, async ({ path }) => {
    const file = join(dir, decodeURIComponent(path).slice(urlPath.length))
    const text = String((await bytesOf(file)) ?? '')
    const named = Array.from(text.matchAll(ABSOLUTE), ([, url = '']) => url)
    const wrong = named.find(url => paths.has(url))
    if (wrong === undefined) return []
    const message = `names ${wrong}, which is at ${base}${wrong}: build with that base, as freshAssets({ base: '${base}', … }) does`
    return [{ path, message }]
  })
  return problems.flat()
}
