// Lets an extra change the text of a draft, before its references get URLs: those that are inserted later shift
// what follows them, and final-bytes.ts shifts the map too.
import { isUtf8 } from 'node:buffer'
import { readContent } from '../../files/open-file.ts'
import type { Transform } from '../parts/precompile.ts'
import { replaceReferences } from '../references/references.ts'
import type { Asset } from '../sources/sources.ts'
import { textOf, textType, type Draft } from './draft.ts'
import type { Renderer } from './renderer.ts'

/** Undefined: the draft stays as it is. */
export function transformFor({ app, name }: Asset, all: readonly Transform[]) {
  return textType(name) && all.find(each => each.takes(app, name))
}

export async function transformed(
  renderer: Renderer,
  asset: Asset,
  drafted: Draft,
  transform: Transform
): Promise<Draft> {
  const bytes = await readContent(drafted.content)
  // Other encodings stay as they are.
  if (bytes.length === 0 || !isUtf8(bytes)) return drafted
  const { app, name, source } = asset
  const code = await withInlineMap(renderer, asset, drafted, new TextDecoder().decode(bytes))
  const isCompiled = source.compiler !== undefined
  const made = await transform.apply({ app, name, file: source.file, code, isCompiled })
  if (!made) return (await renderer.draft(asset)) ?? drafted
  return {
    ...drafted,
    content: Buffer.from(made.code),
    text: await textOf(asset, made.code, drafted.text?.dependencies ?? []),
    map: made.map
  }
}

/** The text with its linked source map inline, which is the only form that every tool continues. */
async function withInlineMap(
  renderer: Renderer,
  asset: Asset,
  { text }: Draft,
  code: string
): Promise<string> {
  const linked = text?.references.findLast(({ kind }) => kind === 'source-map')
  const found = text && linked && (await renderer.resolve(asset, text, linked))
  const map = found && found !== 'elsewhere' && (await renderer.draft(found))
  if (!linked || !map) return code
  const data = Buffer.from(await readContent(map.content)).toString('base64')
  const url = `data:application/json;base64,${data}`
  return replaceReferences(code, [{ ...linked, suffix: '' }], [url])
}
