// Content-Disposition of a download (RFC 6266; its `filename*` in RFC 8187).
import contentDisposition from 'content-disposition'

/**
 * Lets the browser save a response under a name.
 *
 * @param filename any text; of a path, the last segment is used. One that consists of separators is no name
 */
export function attachment(filename: string): string {
  // A lone surrogate is no character: RFC 8187 encodes UTF-8.
  const name = filename.replace(/[\u0000-\u001f\u007f-\u009f\p{Surrogate}]/gu, '_')
  // For clients that do not know `filename*`; ASCII alone is read alike by all of them.
  const fallback = name.replace(/[^\x20-\x7e]/gu, '_')
  // Without a name browsers take the one in the URL.
  return contentDisposition(name, { fallback }).replace(/; filename\*=UTF-8''$/, '')
}
