// Shows what deltas save, in the list of assets.
import type { Asset } from '../../runtime/urls/manifest.ts'
import { publicFile } from '../../runtime/settings/public-directory.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { savingsText } from '../../publishing/cli/format.ts'
import { CODINGS } from '../../runtime/files/codings.ts'
import { statOf } from '../../runtime/files/disk.ts'
import { SEAL_BYTES } from './delta-format.ts'
import { listPublished } from './directory.ts'
import { savingsOf } from './write-deltas.ts'

/** The column is empty for a file without deltas. */
export async function deltaColumn(settings: Settings) {
  const { deltas } = await listPublished(settings)
  const sizeOf = async (path: string) => Number((await statOf(path))?.size ?? Infinity)
  return async ({ target, size }: Pick<Asset, 'target' | 'size'>) => {
    const path = decodeURIComponent(target)
    const beside = deltas.get(path)
    if (!beside) return undefined
    const file = publicFile(settings, path)
    const copies = await Promise.all(CODINGS.map(({ extension }) => sizeOf(file + extension)))
    const insteadOf = Math.min(size, ...copies)
    const sizes = await Promise.all(beside.map(delta => sizeOf(delta.file)))
    const value = savingsOf(sizes.map(stored => ({ size: stored - SEAL_BYTES, insteadOf })))
    return { value, text: savingsText(value) }
  }
}
