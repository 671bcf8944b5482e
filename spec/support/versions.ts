// Five hundred assets, each in versions that tell what they are.
import { mkdirSync, renameSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export const COUNT = 500

const KINDS = [
  ['s', '.css', '.scss'],
  ['c', '.css', ''],
  ['j', '.js', ''],
  ['i', '.bin', '']
] as const

/**
 * A quarter each of Sass, CSS, scripts and images; some of these are too big for memory.
 * @returns the source below `apps/web/assets`
 */
export function assetAt(at: number): { readonly name: string; readonly source: string } {
  const [letter, extension, compiled] = KINDS[at % 4] ?? KINDS[3]
  const name = `${letter}${at}${extension}`
  return { name, source: `sources/${name}${compiled}` }
}

/** What is published: its first line says which version it is, every other repeats that. */
export function bodyOf(at: number, version: number): string {
  if (at % 4 === 3)
    return `${at} ${version}\n`.repeat(at % 100 === 3 ? 130_000 : linesOf(at, version))
  const lines = `  order: ${version};\n`.repeat(linesOf(at, version))
  return `/*! ${at} ${version} */\n.c${at} {\n${lines}}${at % 4 === 0 ? '' : '\n'}`
}

function linesOf(at: number, version: number): number {
  return 1 + ((at * 7 + version * 131) % 400)
}

function sourceOf(at: number, version: number): string {
  const body = bodyOf(at, version)
  return at % 4 === 0
    ? `$v: ${version};\n${body.replaceAll(`order: ${version}`, 'order: $v')}`
    : body
}

/** The version that a body is, whole and unmixed; undefined when it is none. */
export function versionOf(at: number, body: string): number | undefined {
  const version = Number(/^(?:\/\*! )?\d+ (\d+)/.exec(body)?.[1])
  return body === bodyOf(at, version) ? version : undefined
}

/** Writes one version of a source as a whole; every third of them with a date of long ago. */
export function writeVersion(root: string, at: number, version: number): void {
  const file = join(root, 'apps/web/assets', assetAt(at).source)
  mkdirSync(dirname(file), { recursive: true })
  const temporary = join(root, 'being-written')
  writeFileSync(temporary, sourceOf(at, version))
  if (version % 3 === 2) utimesSync(temporary, 1e9, 1e9 + at)
  renameSync(temporary, file)
}
