import { absolutePath } from '../../runtime/files/paths.ts'
import { text, type Expectation } from '../../runtime/check-options.ts'

export interface ManifestOptions {
  /**
   * The bundler's manifest, relative to `root`, for `ctx.assets.entry` and for `immutable`: Vite's,
   * esbuild's metafile, or webpack's and Rspack's stats. It is read at start and when it changes, and is
   * never served. Default: none.
   */
  manifest?: string | undefined
}

export const MANIFEST = { manifest: text } satisfies Record<keyof ManifestOptions, Expectation>

export function settleManifest({ manifest }: ManifestOptions, { root }: { readonly root: string }) {
  return { manifest: manifest === undefined ? undefined : absolutePath(root, manifest) }
}
