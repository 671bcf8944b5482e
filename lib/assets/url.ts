/** A decoded path as it stands in a URL (RFC 3986, section 3.3): what a segment may hold stays as it is. */
export function encodePath(path: string): string {
  return path.replace(/[^\w\-.~!$&'()*+,;=@/]+/g, part => encodeURIComponent(part))
}
