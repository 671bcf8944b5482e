// Whether a request opens a page (Fetch Metadata Request Headers, W3C, section 2.2).

interface Request {
  readonly method?: string | undefined
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Where the browser says nothing, a request that names `text/html` as acceptable counts as a navigation. */
export function isNavigation({ method, headers }: Request): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false
  const mode = headers['sec-fetch-mode']
  return mode === undefined ? namesHtml(String(headers.accept ?? '')) : mode === 'navigate'
}

function namesHtml(accept: string): boolean {
  return accept.split(',').some(range => {
    const [type = '', ...parameters] = range.split(';')
    return type.trim().toLowerCase() === 'text/html' && !parameters.some(isWeightOfZero)
  })
}

// RFC 9110 section 12.4.2: not acceptable.
function isWeightOfZero(parameter: string): boolean {
  return /^q=0(?:\.0*)?$/i.test(parameter.trim())
}
