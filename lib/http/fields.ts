// What the name and the value of a field can contain, and Content-Disposition.
import contentDisposition from 'content-disposition'

/** RFC 9110 section 5.6.2: the name of a field, of a directive, of a parameter. */
export const TOKEN = /^[!#$%&'*+\-.^_`|~\w]+$/
// Section 5.5: tabs, and characters that are one byte each (obs-text), but no other control characters.
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

export function isFieldValue(value: unknown): value is string {
  return typeof value === 'string' && VALUE.test(value)
}

/**
 * Content-Disposition (RFC 6266; its `filename*` in RFC 8187) that lets the browser save a response under a name.
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
