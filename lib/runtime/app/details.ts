// Reads the details of files that pages contain, from the beginning of each file; extras know the formats.
import { readInto, withOriginal, type Content } from '../files/open-file.ts'
import type { Details } from '../urls/manifest.ts'
import type { AppSource, Extra, Project } from './extra.ts'

export const HEAD = 256 * 1024

/** Returns the details of a file by its name. @param asset the source in an app; undefined for a file in a mount */
export async function detailsIn(
  extras: readonly Extra[],
  name: string,
  content: Content,
  asset?: AppSource
): Promise<Details> {
  const { details } = extras.find(each => each.details?.isFor(name)) ?? {}
  const read = await details?.load(asset ? [asset.app] : [])
  return read?.(await headOf(content), asset?.source.file ?? name, asset) ?? {}
}

/** Loads the code that reads details in advance, for callers that cannot wait. */
export async function loadDetails({ extras, apps }: Pick<Project, 'extras' | 'apps'>) {
  const loaded = await Promise.all(
    extras.map(async ({ details }) => ({ details, read: await details?.load(apps) }))
  )
  return (name: string) => loaded.find(({ details }) => details?.isFor(name))?.read
}

async function headOf(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content.subarray(0, HEAD)
  return withOriginal(content, async original => {
    const bytes = Buffer.allocUnsafeSlow(Math.min(HEAD, Number(original.stats.size)))
    return bytes.subarray(0, await readInto(bytes, original, 0))
  })
}
