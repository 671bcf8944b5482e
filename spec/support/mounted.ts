// Mounts over every way in which a file leaves koaAssets, in development and in production.
import { once } from 'node:events'
import { createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { ExecutionContext } from 'ava'
import { askHttp2 } from './ask.ts'
import { makeSite, type Files, type Site, type SiteOptions } from './site.ts'
import { WAYS as FILE_WAYS } from './ways.ts'

interface Way extends SiteOptions {
  readonly isHttp2?: boolean
}

const ways: ReadonlyArray<readonly [title: string, way: Way]> = [
  ...FILE_WAYS,
  ['with memory off', { memory: { maxBytes: 0 } }],
  ['from memory, over HTTP/2', { isHttp2: true }],
  ['streamed over HTTP/2', { isHttp2: true, memory: { maxFileBytes: 0 } }]
]

const environments = {
  development: { env: 'development' },
  production: { env: 'production', fingerprint: false }
} satisfies Record<string, SiteOptions>

/** By title. Every request looks at the disk, unless an option says otherwise. */
export const WAYS: ReadonlyArray<readonly [title: string, way: Way]> = ways.flatMap(
  ([title, way]) =>
    Object.entries(environments).map(
      ([name, environment]) =>
        [`${title}, in ${name}`, { ...environment, revalidate: 0, ...way }] as const
    )
)

export async function makeMounted(
  t: ExecutionContext,
  { isHttp2 = false, ...way }: Way,
  files: Files,
  options: SiteOptions
): Promise<Site> {
  const site = await makeSite(t, files, { ...way, ...options })
  if (!isHttp2) return site
  const respond = site.app.callback()
  const server = createServer((req, res) => void respond(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  return { ...site, ask: (path, question) => askHttp2(port, path, question) }
}
