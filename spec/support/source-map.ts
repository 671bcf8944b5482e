// Where a place in a minified text comes from, as a browser's tools would tell.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SourceMap, type SourceMapPayload } from 'node:module'
import { readPublic, targetOf } from './fingerprinted.ts'

interface MappedText {
  readonly text: string
  readonly map: SourceMapPayload & { readonly sourcesContent: readonly string[] }
  /** The URL in the comment at the end; undefined for a map that is hidden. */
  readonly mapUrl: string | undefined
  /** The source of a place in the text, and what its map says stands there. */
  readonly origin: (needle: string) => Origin
}

interface Origin {
  readonly source: string
  readonly line: number
  readonly code: string
}

/** A published text, by its plain URL path, with the map that it names, or that is hidden. */
export function readMapped(root: string, plain: string): MappedText {
  const target = targetOf(root, plain)
  const text = readPublic(root, target).toString()
  const mapUrl = /\/[/*]# sourceMappingURL=(\S+)(?: \*\/)?\n$/.exec(text)?.[1]
  const hidden = join(root, 'source-maps', `${target}.map`)
  const file = mapUrl === undefined ? readFileSync(hidden) : readPublic(root, mapUrl)
  const map = JSON.parse(file.toString()) as MappedText['map']
  const entries = new SourceMap(map)
  return {
    text,
    map,
    mapUrl,
    origin(needle) {
      const at = text.indexOf(needle)
      if (at === -1) throw new Error(`${needle} is not in ${text}`)
      const before = text.slice(0, at).split('\n')
      const entry = entries.findEntry(before.length - 1, before.at(-1)?.length ?? 0)
      if (!('originalSource' in entry)) throw new Error(`${needle} comes from nowhere`)
      const { originalSource: source, originalLine, originalColumn } = entry
      const content = map.sourcesContent[map.sources.indexOf(source)] ?? ''
      const line = content.split('\n')[originalLine] ?? ''
      return { source, line: originalLine + 1, code: line.slice(originalColumn) }
    }
  }
}
