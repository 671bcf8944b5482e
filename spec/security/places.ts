// Where the attacked folder `public` is served from: by default, or as a mount, which is attacked alike.
import type { KoaAssetsOptions } from '../../lib/runtime/settings/options.ts'
import { cases } from '../support/soak.ts'
import { SENDERS } from '../support/ways.ts'

export interface Place {
  /** Ends the title of a spec. */
  readonly where: string
  /** The URL path of the folder. */
  readonly at: string
  readonly options: Pick<KoaAssetsOptions, 'public' | 'mounts'>
}

const UNUSED = 'public-unused'

const MOUNTS: readonly [atStatic: Place, atRoot: Place] = [
  {
    where: ', in a mount at /static',
    at: '/static',
    options: { public: UNUSED, mounts: { '/static': 'public' } }
  },
  { where: ', in a mount at /', at: '', options: { public: UNUSED, mounts: { '/': 'public' } } }
]

const [, AT_ROOT] = MOUNTS

/** Beside other ways of serving; the request targets are the same. */
export const MOUNTED = [['from a mount at /', AT_ROOT.options]] as const

export const SENDERS_AND_MOUNT = [...SENDERS, ...MOUNTED].slice(0, cases(2, 4))

const ALL: readonly Place[] = [{ where: '', at: '', options: {} }, ...MOUNTS]

export const PLACES = ALL.slice(0, cases(2, 3))

const AUTHORITY_THEN_PATH = /^((?:\w+:\/\/[^/\\?#]*)?)(?=[/\\?#])/

/** The request target for what is at another one in the folder. */
export function targetAt({ at }: Place, target: string): string {
  return target.replace(AUTHORITY_THEN_PATH, `$1${at}`)
}
