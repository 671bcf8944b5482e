// Reads what pages contain of files, each from the beginning of its file; extras know the formats.
import { readInto, withOriginal, type Content } from '../files/open-file.ts'
import type { Details } from '../urls/manifest.ts'
import type { AppSource, Extra, Project, ReadDetails } from './extra.ts'

export const HEAD = 256 * 1024

/** Returns the details of a file that is published under a name, its source that of an app or a file in a mount. */
export async function detailsIn(
  extras: readonly Extra[],
  name: string,
  content: Content,
  asset?: AppSource
): Promise<Details> {
  const asked = extras.filter(({ details }) => details?.isFor(name))
  if (asked.length === 0) return {}
  const readerOf = await loadDetails({ extras: asked, apps: asset ? [asset.app] : [] })
  return readerOf(name, asset)?.(await headOf(content), asset?.source.file ?? name) ?? {}
}

export type DetailsReader = (name: string, asset?: AppSource) => ReadDetails | undefined

/** Loads the code that reads details in advance, for callers that cannot wait. */
export async function loadDetails({
  extras,
  apps
}: Pick<Project, 'extras' | 'apps'>): Promise<DetailsReader> {
  const loaded = await Promise.all(
    extras.map(async ({ details }) => ({ details, read: await details?.load(apps) }))
  )
  return (name, asset) => {
    const all = loaded.flatMap(({ details, read }) => (details?.isFor(name) && read) || [])
    if (all.length === 0) return undefined
    return (bytes, file) =>
      Object.assign({}, ...all.map(read => read(bytes, file, asset))) as Details
  }
}

async function headOf(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content.subarray(0, HEAD)
  return withOriginal(content, async original => {
    const bytes = Buffer.allocUnsafeSlow(Math.min(HEAD, Number(original.stats.size)))
    return bytes.subarray(0, await readInto(bytes, original, 0))
  })
}
