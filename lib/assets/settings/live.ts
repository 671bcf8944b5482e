// The settings of what is under `<prefix>/-/` in development.
import { resolve } from 'node:path'
import { AssetError } from '../../errors.ts'
import { isDirectory } from '../../files/at-start.ts'
import { isRecord, isText, oneOf, type Expectation } from '../../options.ts'
import type { LiveOptions } from './options.ts'

export interface LiveSettings {
  /** Names that are trusted as those of this machine are; in lower case. */
  readonly hosts: ReadonlySet<string>
  /** Directories, absolute. */
  readonly watch: readonly string[]
  /** The scheme of the editor's URLs. */
  readonly editor: string | undefined
}

const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])$/i

export const live: Expectation = {
  expected: 'true, false or an object',
  holds: value => typeof value === 'boolean' || isRecord(value)
}

export const LIVE = {
  hosts: {
    expected: "a list of host names without port, such as 'my-machine.local'",
    holds: value => Array.isArray(value) && value.every(name => isText(name) && HOST.test(name))
  },
  watch: {
    expected: 'a list of directories',
    holds: value => Array.isArray(value) && value.every(isText)
  },
  editor: oneOf('vscode', 'vscode-insiders', 'vscodium', 'cursor', 'windsurf', 'zed')
} satisfies Record<keyof LiveOptions, Expectation>

/**
 * Undefined unless the environment is `development` and the assets are served.
 * @throws AssetError for a directory that does not exist
 */
export function settleLive(
  given: boolean | LiveOptions | undefined,
  { env, serve, root }: { readonly env: string; readonly serve: boolean; readonly root: string }
): LiveSettings | undefined {
  if (env !== 'development' || !serve || given === false) return undefined
  const { hosts = [], watch = [], editor }: LiveOptions = typeof given === 'object' ? given : {}
  return Object.freeze({
    hosts: new Set(hosts.map(name => name.toLowerCase())),
    watch: Object.freeze(watch.map(directory => settleWatched(root, directory))),
    editor
  })
}

function settleWatched(root: string, directory: string): string {
  const path = resolve(root, directory)
  if (isDirectory(path)) return path
  throw new AssetError(
    'source-missing',
    `live.watch names ${directory}, but ${path} is not a directory: create it, or remove it from live.watch`
  )
}
