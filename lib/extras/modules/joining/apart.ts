// Finds modules that stay files, since they would run in another order if they were joined.
import type { Scripts } from './package-files.ts'

/**
 * A joined module that awaits at its top level would make those wait that a browser runs meanwhile; one that is imported
 * by a URL with a query would not run once more, or what is joined into it would. A module that nothing imports makes nobody wait.
 * @returns the paths of such modules, and of what imports them
 */
export function apartIn(scripts: Scripts, parse: (code: string) => object): Set<string> {
  const importers = new Map<string, string[]>()
  const all = [...scripts]
  for (const [path, { imports }] of all)
    for (const to of imports) importers.set(to, [...(importers.get(to) ?? []), path])
  const found = new Set(all.flatMap(([, { again }]) => again))
  for (const [path, { code }] of all)
    if (importers.has(path) && /\bawait\b/.test(code) && awaitsIn(code, parse)) found.add(path)
  for (const path of found) for (const importer of importers.get(path) ?? []) found.add(importer)
  return found
}

/** Rolldown tells what is wrong with a text that cannot be parsed. */
function awaitsIn(code: string, parse: (code: string) => object): boolean {
  try {
    return isAwaiting(parse(code))
  } catch (error) {
    if ((error as { code?: unknown }).code === undefined) throw error
    return false
  }
}

interface Node {
  readonly type?: unknown
  readonly await?: unknown
}

function isAwaiting(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  const { type, await: isLoop } = node as Node
  if (type === 'AwaitExpression' || (type === 'ForOfStatement' && isLoop === true)) return true
  if (/Function|MethodDefinition|PropertyDefinition/.test(String(type))) return false
  return Object.values(node).some(isAwaiting)
}
