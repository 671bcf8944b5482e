// Why a field of a file's response has its value.

/** By field, and by field with value; RFC 9110 unless another is named. */
const REASONS: Readonly<Record<string, string>> = {
  'Cache-Control: public, max-age=31536000, immutable':
    'the name changes with the bytes: its fingerprint is their digest (RFC 8246)',
  'Cache-Control: no-cache': 'stored, but checked each time: the source may be edited (compile)',
  'Cache-Control: public, max-age=0, must-revalidate':
    'stored, but checked each time: the name stays when the bytes change',
  'Cache-Control': 'set by an option: cacheControl of the mount, or headers',
  ETag: 'strong: the digest of the bytes, with the coding; for a file that is too large for memory its size, times and inode (section 8.8.3)',
  'Last-Modified': 'the mtime of the target, in seconds (section 8.8.2)',
  'Content-Type': 'by the extension, or the option headers; text is UTF-8 (section 8.3)',
  'Content-Length': 'the size of this representation in bytes (section 8.6)',
  'Content-Encoding': 'a compressed copy beside the file expands to its bytes (section 8.4)',
  'Accept-Ranges': 'a part can be requested (section 14.3)',
  Vary: 'there are several representations or, with Available-Dictionary, a delta (section 12.5.5, RFC 9842)',
  'Use-As-Dictionary': 'a later version can be sent as a delta of this one (RFC 9842)',
  'X-Content-Type-Options': 'browsers must not guess another type (Fetch Standard)',
  'Access-Control-Allow-Origin': 'the option host is set: pages of another origin load it'
}

/** @param name as the response has it */
export function reasonForHeader(name: string, value: string): string {
  return REASONS[`${name}: ${value}`] ?? REASONS[name] ?? 'set by the option headers'
}
