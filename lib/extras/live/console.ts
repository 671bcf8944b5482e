// Shows errors of open pages in the terminal, with their places in the sources.
import { SourceMap, type SourceMapPayload } from 'node:module'
import { basename } from 'node:path'
import { text } from 'node:stream/consumers'
import { publishingIn } from '../../publishing/building/on-request.ts'
import { takeInlineMap } from '../../publishing/rendering/source-map.ts'
import { printableLines } from '../../runtime/errors.ts'
import type { Page } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { readSnapshot } from '../../runtime/files/open-file.ts'
import { pathFrom } from '../../runtime/files/paths.ts'
import { isBelow, locate } from '../../runtime/serving/request.ts'

const [MAX_BYTES, MAX_PLACES] = [32 * 1024, 50]
/** Pages that fail in a loop do not flood the terminal. */
const MAX_PER_SECOND = 20

export function pageConsole(pipeline: Pipeline): Page {
  let [second, count] = [0, 0]
  return async ctx => {
    if (!(ctx.request.length <= MAX_BYTES)) ctx.throw(413)
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) [second, count] = [now, 0]
    if (++count > MAX_PER_SECOND) ctx.throw(429)
    const mapped = await withSources(pipeline, ctx.origin, await text(ctx.req))
    console.warn(printableLines(`koa-fresh-assets: ${mapped.trimEnd()}`))
    ctx.status = 204
  }
}

/** Matches a place in the stacks of all browsers: a URL, a line and a column. */
const PLACE = /https?:\/\/[^\s()/]+(\/[^\s()?#]*?)(?:[?#][^\s()]*?)?:(\d+):(\d+)(?![\d:])/g

async function withSources(pipeline: Pipeline, origin: string, given: string): Promise<string> {
  const places = [...given.matchAll(PLACE)].slice(0, MAX_PLACES)
  let [mapped, end] = ['', 0]
  for (const { 0: whole, 1: path = '', 2: line, 3: column, index } of places) {
    const isOwn = whole.startsWith(`${origin}/`)
    const place = isOwn ? await placeOf(pipeline, path, Number(line), Number(column)) : whole
    mapped += given.slice(end, index) + place
    end = index + whole.length
  }
  return mapped + given.slice(end)
}

/** Returns the place in the source, or, if there is none, that in the file without the origin. */
async function placeOf(pipeline: Pipeline, path: string, line: number, column: number) {
  const { base, root } = pipeline.settings
  const sent = `${path}:${line}:${column}`
  const wanted = isBelow(path, base) && locate(path.slice(base.length), pipeline.settings)
  if (typeof wanted !== 'object') return sent
  const { path: plain } = await pipeline.plain(wanted)
  const { source = '', targets = [] } = publishingIn(pipeline).indexed(plain) ?? {}
  const read = targets[0] && (await readSnapshot(targets[0].path))
  const { map } = takeInlineMap(read?.bytes.toString() ?? '')
  // A file that was copied has the places of its source.
  const isCopy = basename(source) === basename(plain)
  if (!map) return isCopy ? `${pathFrom(root, source)}:${line}:${column}` : sent
  const payload = JSON.parse(map) as SourceMapPayload
  const entry = new SourceMap(payload).findEntry(line - 1, column - 1)
  if (!('originalSource' in entry)) return sent
  const file = payload.sources.length === 1 ? pathFrom(root, source) : entry.originalSource
  return `${file}:${entry.originalLine + 1}:${entry.originalColumn + 1}`
}
