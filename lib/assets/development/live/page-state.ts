// What the live channel tells a page: the version of everything that it was made of, and what is broken.
import { AssetError, CompileError } from '../../../errors.ts'
import { errorReport } from '../../inspecting/error-page.ts'
import type { Pipeline } from '../../pipeline.ts'
import { locate } from '../../serving/request-path.ts'
import type { Settings } from '../../settings/settings.ts'
import { encodePath } from '../../urls/encode.ts'

/** Something that a page was made of. A page compares its version with the one that it has. */
export interface Part {
  /** The plain URL path of an asset, encoded; otherwise a name that is no path. */
  readonly key: string
  /** Null while an asset cannot be published. */
  readonly version: string | null
  /** Milliseconds since 1970. */
  readonly changedAt: number
  /** The URL path by which the page requested the asset. */
  readonly path?: string
  /** The URL path by which it is requested now. */
  readonly url?: string
}

export interface Problem {
  readonly title: string
  /** `apps/web/assets/stylesheets/app.css.scss:3:7` */
  readonly location: string
  readonly reason: string
  readonly excerpt: string
  /** Opens the location in an editor. */
  readonly link?: string | undefined
}

export interface AssetState {
  readonly part: Part
  readonly problem?: Problem
}

/**
 * The state of an asset, after bringing it up to date as a request would.
 * @param path as a request would send it
 * @returns undefined for a path that is not served
 */
export async function stateOf(pipeline: Pipeline, path: string): Promise<AssetState | undefined> {
  const wanted = locate(path, pipeline.settings)
  if (typeof wanted !== 'object') return undefined
  const plain = await pipeline.plain(wanted)
  const key = encodePath(plain.path)
  try {
    const file = await pipeline.current(plain)
    if (!file) return undefined
    const [{ etag, stamp }] = file.representations
    const changedAt = Number(stamp.mtimeNs / 1_000_000n)
    return { part: { key, version: etag, changedAt, path, url: pipeline.addressOf(plain) } }
  } catch (error) {
    if (!(error instanceof AssetError)) throw error
    const problem = await problemOf(error, pipeline.settings)
    return { part: { key, version: null, changedAt: 0, path, url: key }, problem }
  }
}

async function problemOf(error: AssetError, settings: Settings): Promise<Problem> {
  const report = await errorReport(error, settings)
  return { ...report, link: linkTo(error, settings.live?.editor) }
}

/** `vscode://file/srv/app/apps/web/assets/stylesheets/app.css.scss:3:7` */
function linkTo(error: AssetError, editor: string | undefined): string | undefined {
  if (editor === undefined || !(error instanceof CompileError)) return undefined
  const { file, line = 1, column = 1 } = error.location
  const path = encodePath(file.replaceAll('\\', '/'))
  return `${editor}://file${path.startsWith('/') ? '' : '/'}${path}:${line}:${column}`
}
