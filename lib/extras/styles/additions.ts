// Adds the option and the report of minifying, and the report of joined stylesheets, to the command `precompile`.
import type { Addition } from '../../runtime/app/extra.ts'
import { count, savingsText } from '../../publishing/cli/command.ts'
import type { StyleRows } from './options.ts'

export const additions: readonly Addition[] = [
  {
    to: 'precompile',
    about: `Where esbuild is installed, stylesheets and scripts are minified; *.min.css and
*.min.js are left unchanged. Source maps to what you wrote are in source-maps.
The option minify: false turns that off; with --minify, or minify: true, it is an
error if esbuild is missing.`,
    options: { minify: { description: 'fail unless CSS and JavaScript can be minified' } },
    examples: [['koa-fresh-assets precompile --minify', 'Fail where esbuild is missing:']]
  }
]

export function rows({ minified, sheets }: Partial<StyleRows>) {
  const { problem, ...saved } = minified ?? { files: 0, bytes: 0, insteadOf: 0 }
  const smaller = saved.files > 0 && savingsText(saved)
  const joined = sheets && `${count(sheets.imports, '@import')} in ${count(sheets.files, 'file')}`
  const all = [
    ['Minified', problem === undefined ? smaller : `nothing: ${problem}`],
    ['Stylesheets', sheets?.problem === undefined ? joined : `none is joined: ${sheets.problem}`]
  ] as const
  return all.flatMap(([heading, text]) => (text ? [[heading, text] as const] : []))
}
