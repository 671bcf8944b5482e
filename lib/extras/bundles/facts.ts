// Lists what a bundler's manifest says about each file that it names.
import { AssetError } from '../../errors.ts'
import { readSnapshot } from '../../files/open-file.ts'
import type { MountSettings } from '../../assets/settings/settings.ts'
import { namedBy } from './manifests/bundle.ts'
import { addressAt, readBundle, withoutQuery } from './manifests/read-bundle.ts'

interface MountFacts {
  /** The absolute path of the file that has the names. */
  readonly manifest: string
  /** Says why there are none: the manifest is missing or broken. */
  readonly problem?: string | undefined
  /** The files in the order of their paths. */
  readonly files?: readonly NamedFile[]
}

export interface NamedFile {
  /** The path below the mount's directory. */
  readonly file: string
  /** The URL path in tags: `/static/assets/main-CZTearZk.js`. */
  readonly path: string
  /** The name by which pages ask for its source; undefined where the manifest gives none. */
  readonly source: string | undefined
  /** The entries whose tags include the file. */
  readonly entries: readonly string[]
  /** Other entries that use it, such as by a dynamic import, as far as the manifest tells. */
  readonly usedBy: readonly string[]
}

export async function factsOf(mount: MountSettings, env: string): Promise<MountFacts | undefined> {
  const { manifest } = mount
  if (manifest === undefined) return undefined
  try {
    return { manifest, files: await filesOf({ ...mount, manifest }, env) }
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    return { manifest, problem: error.message }
  }
}

/** Sorts the files by path. @throws AssetError for a manifest that is missing or broken */
async function filesOf(
  mount: MountSettings & { readonly manifest: string },
  env: string
): Promise<NamedFile[]> {
  const { manifest, urlPath } = mount
  const read = await readSnapshot(manifest)
  if (!read) {
    const hint = env === 'development' ? ', unless its dev server is running' : ''
    throw new AssetError('manifest-missing', `there is no ${manifest}: build first${hint}`)
  }
  const bundle = readBundle(read.bytes, mount)
  const sources = new Map(Array.from(bundle.sources, ([name, file]) => [file, name]))
  const uses = Array.from(bundle.entries, ([name, load]) => {
    return { name, tags: namedBy(load()), all: new Set(bundle.usedBy?.(name)) }
  })
  const namesWhere = (test: (use: (typeof uses)[number]) => boolean) =>
    uses.filter(test).map(({ name }) => name)
  return [...bundle.files].toSorted().map(file => ({
    file: withoutQuery(file),
    path: addressAt(urlPath, file).path,
    source: sources.get(file),
    entries: namesWhere(({ tags }) => tags.has(file)),
    usedBy: namesWhere(({ tags, all }) => all.has(file) && !tags.has(file))
  }))
}
