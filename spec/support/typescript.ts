// Specs run from TypeScript through tsx, or as the JavaScript that `npm run build:spec` compiles to `.spec`.
// Child processes load our modules the same way.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const extension = extname(import.meta.filename)

/** Arguments with which Node loads our modules. */
export const LOADER: readonly string[] =
  extension === '.ts' ? [`--import=${import.meta.resolve('tsx')}`] : []

/** The file of a module, by its path from the root: `lib/cli.ts`. */
export function moduleFile(path: string): string {
  const built = path.slice(0, -extname(path).length) + extension
  return fileURLToPath(new URL(`../../${built}`, import.meta.url))
}
