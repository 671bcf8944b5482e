// Lists the mounts, with the files that the manifests of their builds name, as they are on disk now.
import { join } from 'node:path'
import { inParallel } from '../../concurrency.ts'
import { CODINGS } from '../../files/codings.ts'
import { statOf } from '../../files/disk.ts'
import { excluderOf } from '../../files/globs.ts'
import type { Settings } from '../../assets/settings/settings.ts'
import { factsOf, type NamedFile } from '../bundles/facts.ts'
import { pathFrom } from '../../files/paths.ts'

export interface ListedMount {
  readonly mount: string
  readonly directory: string
  /** Undefined if there is none, and where a dev server stands in for it. */
  readonly manifest: string | undefined
  /** Says why the manifest cannot be read. */
  readonly problem: string | undefined
  readonly files: readonly ListedFile[]
}

export interface ListedFile extends Omit<NamedFile, 'file'> {
  /**
   * The sizes in bytes of the file (`identity`, the first) and of its copies, by coding. Empty: the file is missing.
   */
  readonly sizes: Readonly<Record<string, number>>
}

const CONCURRENCY = 16

/** The paths are relative to the project root. */
export function listMounts({ mounts, root, env }: Settings): Promise<ListedMount[]> {
  return inParallel(mounts, 1, async mount => {
    const { urlPath, dir, exclude = [] } = mount
    const { manifest, problem, files = [] } = (await factsOf(mount, env)) ?? {}
    const isExcluded = excluderOf(exclude)
    const served = files.filter(({ file }) => !isExcluded(file))
    return {
      mount: urlPath || '/',
      directory: pathFrom(root, dir),
      manifest: manifest === undefined ? undefined : pathFrom(root, manifest),
      problem,
      files: await inParallel(served, CONCURRENCY, async ({ file, ...named }) => {
        return { ...named, sizes: await sizesOf(join(dir, file)) }
      })
    }
  })
}

/** Returns the sizes of a file and of its compressed copies. */
async function sizesOf(file: string): Promise<ListedFile['sizes']> {
  const all = [{ name: 'identity', extension: '' }, ...CODINGS].map(async coding => {
    const stats = await statOf(file + coding.extension)
    return stats?.isFile() ? { [coding.name]: Number(stats.size) } : {}
  })
  const sizes: Record<string, number> = Object.assign({}, ...(await Promise.all(all)))
  return 'identity' in sizes ? sizes : {}
}
