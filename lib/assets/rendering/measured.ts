// What extras measure of files.
import { readInto, withOriginal, type Content } from '../../files/open-file.ts'
import type { Extra, Measure, Measures } from '../parts.ts'

/** In bytes. Of a larger file only the beginning is measured. */
export const HEAD = 256 * 1024

/** Of what is published under the name; undefined where there is nothing to tell. */
export async function measured(
  extras: readonly Extra[],
  name: string,
  content: Content
): Promise<Measures | undefined> {
  const { measuring } = extras.find(each => each.measuring?.isFor(name)) ?? {}
  return measuring && (await measuring.load())(await headOf(content))
}

/** The same at once, for those that wait for no disk. */
export async function loadMeasures(
  extras: readonly Extra[]
): Promise<(name: string) => Measure | undefined> {
  const loaded = await Promise.all(extras.map(async ({ measuring }) => measuring?.load()))
  return name => loaded[extras.findIndex(({ measuring }) => measuring?.isFor(name))]
}

async function headOf(content: Content): Promise<Uint8Array> {
  if (!('copyOf' in content)) return content.subarray(0, HEAD)
  return withOriginal(content, async original => {
    const bytes = Buffer.allocUnsafeSlow(Math.min(HEAD, Number(original.stats.size)))
    return bytes.subarray(0, await readInto(bytes, original, 0))
  })
}
