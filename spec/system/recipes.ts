// The compilers of docs/writing-a-compiler.md for packages that are installed in this lane.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Compiler } from '../../lib/runtime/settings/options.ts'
import { readPart } from '../support/examples.ts'
import { moduleFile, writeFiles } from '../support/index.ts'

const page = readPart('docs/writing-a-compiler.md')
const RECIPES = new Map(['Vue', 'Svelte'].map(name => [name, page.take(name)[0]?.text]))

/** What the docs have for a package, as a project imports it. */
export async function compilersOf(root: string, name: string): Promise<Compiler[]> {
  const text = RECIPES.get(name) ?? ''
  const library = pathToFileURL(moduleFile('lib/index.ts')).href
  writeFiles(root, { 'compiler.mjs': text.replace("'koa-fresh-assets'", `'${library}'`) })
  return Object.values(await import(pathToFileURL(join(root, 'compiler.mjs')).href))
}
