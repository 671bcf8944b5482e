// A project whose names are types, and what TypeScript says about it.
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { makeProject, placed } from '../../support/index.ts'

export const TYPED = {
  'stylesheets/app.css.scss': '',
  'javascripts/pages/home.js': '',
  'images/logo.svg': '',
  'fonts/inter.woff2': '',
  '/apps/admin/assets/stylesheets/menu.css': ''
}

/** What TypeScript says about lines in a route; the package is what was built. */
export function complaints(root: string, ...lines: readonly string[]): string {
  const text = ["import { koaAssets, type AssetName } from 'koa-fresh-assets/assets'", ...ROUTE]
  writeFileSync(join(root, 'server.ts'), [...text, ...lines, '})'].join('\n'))
  try {
    const words = [resolve('node_modules/typescript/bin/tsc'), '-p', root]
    return execFileSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

const ROUTE = [
  "import Koa from 'koa'",
  'declare const name: string',
  'new Koa().use(koaAssets()).use(({ assets }) => {'
]
const QUICK = { lib: ['es2024'], types: [], noEmit: true, skipLibCheck: true }
const COMPILER = { module: 'nodenext', strict: true, ...QUICK }

export function makeTyped(t: Parameters<typeof makeProject>[0], files = {}): string {
  const tsconfig = JSON.stringify({ compilerOptions: COMPILER, include: ['*.ts'] })
  const root = makeProject(t, {
    ...placed({ ...TYPED, ...files }),
    'package.json': '{"type":"module"}',
    'tsconfig.json': tsconfig
  })
  mkdirSync(join(root, 'node_modules'))
  symlinkSync(resolve('.'), join(root, 'node_modules/koa-fresh-assets'))
  symlinkSync(resolve('node_modules/@types'), join(root, 'node_modules/@types'))
  return root
}
