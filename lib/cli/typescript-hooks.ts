// How the loader's thread reads TypeScript through esbuild.
import { readFile } from 'node:fs/promises'
import type { InitializeHook, LoadHook } from 'node:module'
import { fileURLToPath } from 'node:url'
import type * as Esbuild from 'esbuild'

let esbuild: typeof Esbuild

export const initialize: InitializeHook<{ esbuild: string }> = async data => {
  esbuild = (await import(data.esbuild)) as typeof Esbuild
}

export const load: LoadHook = async (url, context, nextLoad) => {
  if (!/^file:[^?]*\.m?ts(?:\?|$)/.test(url)) return nextLoad(url, context)
  const text = await readFile(fileURLToPath(url), 'utf8')
  const { code } = await esbuild.transform(text, {
    loader: 'ts',
    format: 'esm',
    target: 'esnext',
    sourcefile: fileURLToPath(url),
    sourcemap: 'inline'
  })
  return { format: 'module', source: code, shortCircuit: true }
}
