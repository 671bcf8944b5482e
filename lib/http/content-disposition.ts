// Content-Disposition of a download (RFC 6266; its `filename*` in RFC 8187).
import contentDisposition from 'content-disposition'

/**
 * Lets the browser save a response under a name.
 *
 * @param filename any text; of a path, the last segment is used
 */
export function attachment(filename: string): string {
  const name = filename.replace(/[\u0000-\u001f\u007f-\u009f]/g, '_')
  // For clients that do not know `filename*`; ASCII alone is read alike by all of them.
  const fallback = name.replace(/[^\x20-\x7e]/gu, '_')
  return contentDisposition(name, { fallback })
}
