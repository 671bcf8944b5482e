// Adds the option and the report of minifying to the command `precompile`.
import type { Addition } from '../../runtime/app/parts.ts'
import { savingsText } from '../../publishing/cli/format.ts'
import type { MinifyRow } from './options.ts'

export const additions: readonly Addition[] = [
  {
    to: 'precompile',
    about: `Where esbuild is installed, stylesheets and scripts are minified, each with a source
map to the original source (app.css.map); *.min.css and *.min.js are left unchanged.
The option minify: false turns that off; with --minify, or minify: true, it is an
error if esbuild is missing.`,
    options: { minify: { description: 'fail unless CSS and JavaScript can be minified' } },
    examples: [['koa-fresh-assets precompile --minify', 'Fail where esbuild is missing:']]
  }
]

export function rowsOf({ minified }: Partial<MinifyRow>): readonly (readonly [string, string])[] {
  if (!minified) return []
  const { problem, ...saved } = minified
  if (problem !== undefined) return [['Minified', `nothing: ${problem}`]]
  return saved.files > 0 ? [['Minified', savingsText(saved)]] : []
}
