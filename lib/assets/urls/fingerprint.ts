// The digest of bytes, and its way into a file name and out of it.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'

/** In hex characters. */
export const DIGEST_LENGTH = 32

/** SHA-256 of the bytes, the first 32 hex characters. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, DIGEST_LENGTH)
}

/** The same of a file, a piece at a time. */
export function digestOfFile(path: string): Promise<string> {
  return digestOfStream(createReadStream(path))
}

export async function digestOfStream(chunks: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex').slice(0, DIGEST_LENGTH)
}

/** `admin/app.css` -> `admin/app-<digest>.css`; a name that already bears this digest stays. */
export function withFingerprint(name: string, digest: string): string {
  if (splitFingerprint(name)?.digest === digest) return name
  const dot = extensionAt(name)
  return `${name.slice(0, dot)}-${digest}${name.slice(dot)}`
}

const FINGERPRINT = /-([0-9a-f]{32})$/

/** `admin/app-<digest>.css` -> `admin/app.css` and the digest; undefined when there is none. */
export function splitFingerprint(name: string): { name: string; digest: string } | undefined {
  const dot = extensionAt(name)
  const match = FINGERPRINT.exec(name.slice(0, dot))
  if (!match?.[1]) return undefined
  return { name: name.slice(0, match.index) + name.slice(dot), digest: match[1] }
}

/** Where the last extension begins, or the end of a name that has none. */
function extensionAt(name: string): number {
  const dot = name.lastIndexOf('.')
  return dot > name.lastIndexOf('/') + 1 ? dot : name.length
}
