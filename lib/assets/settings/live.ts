// The settings of what is under `<prefix>/-/` in development.
import { isRecord, isText, type Expectation } from '../../options.ts'
import type { LiveOptions } from './options.ts'

export interface LiveSettings {
  /** Names that are trusted as those of this machine are; in lower case. */
  readonly hosts: ReadonlySet<string>
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
  }
} satisfies Record<keyof LiveOptions, Expectation>

/** Undefined unless the environment is `development` and the assets are served. */
export function settleLive(
  given: boolean | LiveOptions | undefined,
  { env, serve }: { readonly env: string; readonly serve: boolean }
): LiveSettings | undefined {
  if (env !== 'development' || !serve || given === false) return undefined
  const { hosts = [] } = typeof given === 'object' ? given : {}
  return Object.freeze({ hosts: new Set(hosts.map(name => name.toLowerCase())) })
}
