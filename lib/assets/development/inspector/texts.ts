// The text of a file for a page, at a size that can be read.
import { isUtf8 } from 'node:buffer'
import { streamOf } from '../../../files/file-stream.ts'
import type { ServedFiles } from '../../serving/files/served-files.ts'
import type { Wanted } from '../../serving/request-path.ts'

export interface ShownText {
  /** Relative to the project root; undefined for what is in no file. */
  readonly file: string | undefined
  readonly text: string
  /** What was left out, in words. */
  readonly omitted: string | undefined
}

const MAX_BYTES = 64 * 1024
/** An inline source map is one line. */
const MAX_COLUMNS = 500

/**
 * The beginning of a file; undefined for one that is not served, and for one that is not text.
 * @param file as it is shown
 */
export async function textOfFile(
  files: ServedFiles,
  wanted: Wanted,
  file: string
): Promise<ShownText | undefined> {
  const bytes = await files.withOpened(wanted, async (_, opened) => {
    const chunks: Buffer[] = []
    for await (const chunk of streamOf(opened, { start: 0, end: MAX_BYTES })) {
      chunks.push(chunk as Buffer)
    }
    return Buffer.concat(chunks)
  })
  return bytes && shownText(bytes, file)
}

/** Undefined for bytes that are not text. @param file relative to the root */
export function shownText(bytes: Buffer, file?: string): ShownText | undefined {
  const isCut = bytes.length > MAX_BYTES
  // A character may be cut in two.
  const start = bytes.subarray(0, MAX_BYTES)
  const whole = isCut ? start.subarray(0, start.lastIndexOf(0x0a) + 1 || MAX_BYTES - 4) : start
  if (!isUtf8(whole) || whole.includes(0)) return undefined
  let shortened = 0
  const lines = whole
    .toString()
    .split('\n')
    .map(line => {
      if (line.length <= MAX_COLUMNS) return line
      shortened++
      return `${line.slice(0, MAX_COLUMNS)}… ${line.length - MAX_COLUMNS} more characters`
    })
  const omitted = [
    ...(isCut ? [`only the first ${MAX_BYTES / 1024} KiB are shown`] : []),
    ...(shortened > 0 ? [`${shortened} long ${shortened === 1 ? 'line is' : 'lines are'} cut`] : [])
  ]
  const text = lines.join('\n')
  return { file, text, omitted: omitted.length > 0 ? omitted.join(', ') : undefined }
}
