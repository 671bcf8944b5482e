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

const mountAt = (url: string) => ({ public: 'public-unused', mounts: { [url]: 'public' } })

/** Beside other ways of serving; the request targets are the same. */
export const MOUNTED = [['from a mount at /', mountAt('/')]] as const

export const SENDERS_AND_MOUNT = [...SENDERS, ...MOUNTED].slice(0, cases(2, 4))

const ALL: readonly Place[] = [
  { where: '', at: '', options: {} },
  { where: ', in a mount at /static', at: '/static', options: mountAt('/static') },
  { where: ', in a mount at /', at: '', options: mountAt('/') }
]

export const PLACES = ALL.slice(0, cases(2, 3))

const AUTHORITY_THEN_PATH = /^((?:\w+:\/\/[^/\\?#]*)?)(?=[/\\?#])/

/** The request target for what is at another one in the folder. */
export const targetAt = ({ at }: Pick<Place, 'at'>, target: string): string =>
  target.replace(AUTHORITY_THEN_PATH, `$1${at}`)
