// The ways in which the bytes of a file and its response come about.
import Koa2 from 'koa2'
import type { Middleware } from 'koa'
import type { SiteOptions } from './site.ts'

/** In front of koaAssets, which then gives its responses to Koa instead of writing them. */
export const passOn: Middleware = (_, next) => next()

const STREAMED: SiteOptions = { memory: { maxFileBytes: 0 } }

/** Who sends the response to a request. */
export const SENDERS: ReadonlyArray<
  readonly [sender: string, options: Pick<SiteOptions, 'front' | 'koa'>]
> = [
  ['written by koaAssets', {}],
  ['given to Koa', { front: passOn }],
  ['given to Koa 2', { front: passOn, koa: Koa2 }]
]

export const WAYS: ReadonlyArray<readonly [way: string, options: SiteOptions]> = [
  ['from memory', {}],
  ['streamed', STREAMED],
  ['streamed over Koa 2', { ...STREAMED, koa: Koa2 }],
  ['from memory, given to Koa', { front: passOn }],
  ['streamed, given to Koa', { ...STREAMED, front: passOn }],
  ['from memory, given to Koa 2', { front: passOn, koa: Koa2 }],
  ['streamed, given to Koa 2', { ...STREAMED, front: passOn, koa: Koa2 }]
]

/** Given to Koa: the bytes as a buffer and as a stream, to the newest Koa and to Koa 2. */
export const GIVEN = WAYS.filter(([, { front, koa, memory }]) => front && !koa === !memory)

/** In which files are served; every request looks at the disk. */
export const ENVIRONMENTS: ReadonlyArray<readonly [where: string, options: SiteOptions]> = [
  ['in development', { env: 'development', revalidate: 0 }],
  ['in production', { env: 'production', fingerprint: false, revalidate: 0 }]
]
