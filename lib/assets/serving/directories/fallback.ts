// Which paths may be answered with the page of a single-page application.
import { extname } from 'node:path'
import { canonicalSegments } from '../../urls/canonical-path.ts'

const PAGE_EXTENSION = '.html'

/** A canonical path, with or without a slash at its end; undefined for one with the extension of a file. */
export function navigatedPath(raw: string): string | undefined {
  const segments = raw === '/' ? [] : canonicalSegments(raw.replace(/\/$/, ''))
  if (!Array.isArray(segments)) return undefined
  const extension = extname(segments.at(-1) ?? '')
  return extension === '' || extension === PAGE_EXTENSION ? ['', ...segments].join('/') : undefined
}
