// Specs run as they are written, through tsx, or as the JavaScript that `npm run build:spec` puts below
// `.spec`. What they start in processes of their own runs in the same form.
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

const extension = extname(import.meta.filename)

/** What Node has to be given to load our modules. */
export const LOADER: readonly string[] =
  extension === '.ts' ? [`--import=${import.meta.resolve('tsx')}`] : []

/** The file of one of our modules, given from the root: `lib/cli.ts`. */
export function moduleFile(path: string): string {
  const built = path.slice(0, -extname(path).length) + extension
  return fileURLToPath(new URL(`../../${built}`, import.meta.url))
}
