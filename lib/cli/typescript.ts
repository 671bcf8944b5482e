// Teaches this process to import TypeScript, where Node itself cannot.
import { createRequire, register } from 'node:module'
import { basename, extname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { errorCode } from '../files/disk.ts'

/**
 * Node strips types by itself from 22.18 on. It has to be known beforehand: what once failed to be
 * imported fails for good.
 *
 * @param file absolute; `tsx` and `esbuild` are looked for from there
 * @throws Error that says what to install
 */
export async function learnTypeScript(file: string): Promise<void> {
  if ((process.features as { typescript?: unknown }).typescript) return
  // Where this file is still TypeScript somebody reads it already.
  if (import.meta.url.endsWith('.ts')) return
  const tsx = find('tsx', file)
  if (tsx) return void (await import(pathToFileURL(tsx).href))
  const esbuild = find('esbuild', file)
  if (esbuild) return registerHooks(esbuild)
  throw new Error(
    `Node ${process.versions.node} does not read TypeScript: npm install --save-dev tsx, ` +
      `or rename it to ${basename(file, extname(file))}.js`
  )
}

function find(name: string, from: string): string | undefined {
  try {
    return createRequire(from).resolve(name)
  } catch (error) {
    if (errorCode(error) !== 'MODULE_NOT_FOUND') throw error
    return undefined
  }
}

/** In the thread of the loader, which knows nothing of this one. */
function registerHooks(esbuild: string): void {
  const extension = extname(fileURLToPath(import.meta.url))
  register(`./typescript-hooks${extension}`, import.meta.url, {
    data: { esbuild: pathToFileURL(esbuild).href }
  })
}
