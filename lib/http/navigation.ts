// Whether a request opens a page (Fetch Metadata Request Headers, W3C, sections 2.1 and 2.2).

interface Request {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** What a page is opened in. The others of a navigation are `object` and `embed`. */
const DOCUMENTS = new Set(['document', 'iframe', 'frame'])

/**
 * Where the browser says nothing, a request that names `text/html` as acceptable counts as a navigation, and
 * for a path whose last segment has no dot one that accepts anything does: curl, monitors, link previews.
 */
export function isNavigation({ method, headers }: Request, path: string): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': dest } = headers
  if (mode !== undefined || dest !== undefined) {
    return (mode ?? 'navigate') === 'navigate' && DOCUMENTS.has(String(dest ?? 'document'))
  }
  const ranges = String(headers.accept ?? '').split(',')
  if (ranges.some(range => accepts(range, 'text/html'))) return true
  return ranges.length === 1 && !hasDot(path) && accepts(String(ranges[0]), '*/*')
}

function hasDot(path: string): boolean {
  const end = path.endsWith('/') ? path.slice(0, -1) : path
  return end.lastIndexOf('.') > end.lastIndexOf('/')
}

function accepts(range: string, wanted: string): boolean {
  const [type = '', ...parameters] = range.split(';')
  return type.trim().toLowerCase() === wanted && !parameters.some(isWeightOfZero)
}

// RFC 9110 section 12.4.2: not acceptable.
function isWeightOfZero(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/i.test(parameter.trim())
}
