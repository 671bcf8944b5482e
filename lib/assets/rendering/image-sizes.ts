// Reads the sizes of images, each from the beginning of its file; an extra knows their formats.
import { readInto, withOriginal, type Content } from '../../files/open-file.ts'
import type { Extra, ImageSize, ReadImageSize } from '../parts.ts'

/** The number of bytes that are read at most from the beginning of a file. */
export const HEAD = 256 * 1024

/** Returns the size of the image that is published under a name; undefined for anything else. */
export async function imageSizeIn(
  extras: readonly Extra[],
  name: string,
  content: Content
): Promise<ImageSize | undefined> {
  const { imageSizes } = extras.find(each => each.imageSizes?.isFor(name)) ?? {}
  return imageSizes && (await imageSizes.load())(await headOf(content))
}

/** Loads the code that reads sizes in advance, for callers that cannot wait. */
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
