// How large images are, as an extra reads it from their bytes.
import { readInto, withOriginal, type Content } from '../../files/open-file.ts'
import type { Extra, ReadImageSize, ImageSize } from '../parts.ts'

/** In bytes. Only the beginning of a larger file is read. */
export const HEAD = 256 * 1024

/** The size of the image that is published under a name; undefined for anything else. */
export async function imageSizeIn(
  extras: readonly Extra[],
  name: string,
  content: Content
): Promise<ImageSize | undefined> {
  const { imageSizes } = extras.find(each => each.imageSizes?.isFor(name)) ?? {}
  return imageSizes && (await imageSizes.load())(await headOf(content))
}

/** Loads what reads sizes, for callers that wait for no disk. */
export async function loadImageSizes(
  extras: readonly Extra[]
): Promise<(name: string) => ReadImageSize | undefined> {
  const loaded = await Promise.all(extras.map(async ({ imageSizes }) => imageSizes?.load()))
  return name => loaded[extras.findIndex(({ imageSizes }) => imageSizes?.isFor(name))]
}

async function headOf(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content.subarray(0, HEAD)
  return withOriginal(content, async original => {
    const bytes = Buffer.allocUnsafeSlow(Math.min(HEAD, Number(original.stats.size)))
    return bytes.subarray(0, await readInto(bytes, original, 0))
  })
}
