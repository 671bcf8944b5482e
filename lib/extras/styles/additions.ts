// Adds the option and the report of minifying, and that of joined stylesheets, to the command `precompile`.
import type { Addition } from '../../runtime/app/parts.ts'
import { count, savingsText } from '../../publishing/cli/format.ts'
import type { StyleRows } from './options.ts'

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

export function rowsOf({ minified, sheets }: Partial<StyleRows>) {
  const rows: (readonly [heading: string, text: string])[] = []
  if (minified?.problem !== undefined) rows.push(['Minified', `nothing: ${minified.problem}`])
  else if (minified && minified.files > 0) rows.push(['Minified', savingsText(minified)])
  if (sheets?.problem !== undefined) rows.push(['Stylesheets', `none is joined: ${sheets.problem}`])
  else if (sheets)
    rows.push([
      'Stylesheets',
      `${count(sheets.imports, '@import')} in ${count(sheets.files, 'file')}`
    ])
  return rows
}
