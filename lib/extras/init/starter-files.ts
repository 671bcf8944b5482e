// The initial content of a project's files: the assets of an app, the configuration, the lines of dotfiles.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CONFIG_NAMES } from '../../publishing/cli/config.ts'
import { dependenciesOf, recordOf } from '../restarts/ignore.ts'

/** Returns the files of an app; beside other apps they have its name, as a wrong app in a view would not be noticed. */
export function assetsOf(app: string, isAnother: boolean, tailwind: boolean) {
  const own = { ...SCRIPTS, ...(tailwind ? TAILWIND_STYLES : STYLES) }
  const stem = isAnother ? app : 'app'
  const files = Object.entries(isAnother ? own : { ...COMMON, ...own }).map(([path, content]) => [
    `apps/${app}/assets/${path.replace(/\bapp(?=\.\w+$)/, () => stem)}`,
    content
  ])
  return Object.fromEntries(files) as Readonly<Record<string, string | Buffer>>
}

const COMMON = {
  'favicon.ico': Buffer.from(
    'AAABAAEAICAAAAEAIACjAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAgAAAAIAIDAAAADhSSZwAAAAlQTFRFAAAAH3pc////' +
      'Q+Q36AAAAAF0Uk5TAEDm2GYAAABISURBVHjaY2AIBQMGBkYIw4GBFcIIYBCFMEKgSoCKSGVELYUyVq2CMMJWrZqKyohatWop' +
      'IQamLriBCCvIcCHcg3AvwwMBFiwAWldbVfcw7RUAAAAASUVORK5CYII=',
    'base64'
  ),
  // Git does not keep empty folders.
  'fonts/.gitkeep': '',
  'images/logo.svg': `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32">
  <rect width="32" height="32" rx="7" fill="#1f7a5c"/>
  <circle cx="16" cy="16" r="6" fill="#fff"/>
</svg>
`
}

const SCRIPTS = {
  'javascripts/app.js': `document.documentElement.classList.add('js')
`
}

const STYLES = {
  'stylesheets/app.css': `body {
  margin: 2rem auto;
  max-width: 40rem;
  padding: 0 1rem;
  font-family: system-ui, sans-serif;
  line-height: 1.5;
}
`
}

const TAILWIND_STYLES = {
  'stylesheets/app.pcss': `@import 'tailwindcss' source(none);
@source '../../../../views';
@source '../javascripts';
`
}

const SERVE = { 'SERVE_STATIC_ASSETS=true': /^\s*(?:export\s+)?SERVE_STATIC_ASSETS\s*=/m }

/** The lines for files that may exist, each with a pattern of equivalents, which make it unnecessary. */
export const LINES: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  '.env.development': SERVE,
  '.env.test': { 'NODE_ENV=test': /^\s*(?:export\s+)?NODE_ENV\s*=/m, ...SERVE },
  '.gitignore': {
    node_modules: /^\s*\/?node_modules\/?\s*$/m,
    'public/assets': /^\s*\/?public\/assets(?:\/\**)?\s*$/m,
    'public/assets.json': /^\s*\/?public\/assets\.json\s*$/m,
    'source-maps': /^\s*\/?source-maps\/?\s*$/m
  }
}

export interface Config {
  readonly name: string
  readonly kind: 'typescript' | 'esm' | 'commonjs'
}

/** Returns the existing file, or the one to write: Jest and `require` cannot load an ES module everywhere. */
export function configOf(root: string): Config {
  const isModule = recordOf(root, 'package.json')['type'] === 'module'
  const isTyped =
    existsSync(join(root, 'tsconfig.json')) || dependenciesOf(root).includes('typescript')
  const written = isTyped ? (isModule ? 'ts' : 'mts') : 'js'
  const there = CONFIG_NAMES.find(each => existsSync(join(root, each)))
  const name = there ?? `assets.config.${written}`
  if (name.endsWith('ts')) return { name, kind: 'typescript' }
  const isEsm = name.endsWith('.mjs') || (isModule && name.endsWith('.js'))
  return { name, kind: isEsm ? 'esm' : 'commonjs' }
}

export function contentOf({ kind }: Config, isTailwind: boolean): string {
  const [isTyped, isCommonJs] = [kind === 'typescript', kind === 'commonjs']
  const type = "import type { KoaAssetsOptions } from 'koa-fresh-assets'\n"
  const start = isTailwind ? compilerOf(kind) : isTyped ? type : ''
  const ofEditors = isTyped ? '' : "/** @type {import('koa-fresh-assets').KoaAssetsOptions} */\n"
  const whichRoot = isTyped
    ? '. If tsc writes this file elsewhere: process.cwd()'
    : ', whatever the working directory is.'
  return `// Options for koaAssets() and for the koa-fresh-assets command.
${start}
${ofEditors}${isCommonJs ? 'module.exports =' : 'export default'} {
  // Relative paths start here${whichRoot}
  root: ${isCommonJs ? '__dirname' : 'import.meta.dirname'}${isTailwind ? ',\n  compilers: [pcss]' : ''}
}${isTyped ? ' satisfies KoaAssetsOptions' : ''}
`
}

/** Returns the text for the top of the configuration; the parts in guillemets are for TypeScript. */
function compilerOf(kind: Config['kind']): string {
  const lines = IMPORTS.map(([names, name]) =>
    kind === 'commonjs' ? `const ${names} = require('${name}')` : `import ${names} from '${name}'`
  )
  const types = kind === 'typescript' ? "import type { Message } from 'postcss'\n" : ''
  const text = `${lines.join('\n')}\n${types}${COMPILER}`
  return text.replaceAll(/«(.*?)»/g, kind === 'typescript' ? '$1' : '')
}

const IMPORTS = [
  ['{ readdir }', 'node:fs/promises'],
  ['{ join }', 'node:path'],
  ['{ CompileError«, type Compiler, type KoaAssetsOptions» }', 'koa-fresh-assets']
]

const loading = (literal: string) => `await import(${literal})`

const COMPILER = `
/** Compiles \`.pcss\`. Its packages are loaded when it is first used, which a production server never does. */
const pcss«: Compiler» = {
  extensions: '.pcss',
  target: '.css',
  async compile({ code, path, env, sourceMap = env === 'development' }) {
    const { default: postcss } = ${loading("'postcss'")}
    const { default: tailwindcss } = ${loading("'@tailwindcss/postcss'")}
    const options = { from: path, map: sourceMap && { inline: true } }
    try {
      const { css, messages } = await postcss([tailwindcss()]).process(code, options)
      return { code: css, dependencies: (await Promise.all(messages.map(filesOf))).flat() }
    } catch (error) {
      if (!(error instanceof postcss.CssSyntaxError)) throw error
      const { reason, file = path, line, column } = error
      throw new CompileError(reason, { file, line, column }, { cause: error })
    }
  }
}

/** Returns what a plugin has read: a file, or a directory, whose folders change when a file is added. */
async function filesOf({ type, file, dir }«: Message»)«: Promise<string[]>» {
  if (type === 'dependency') return [file]
  if (type !== 'dir-dependency') return []
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const folders = entries.filter(entry => entry.isDirectory())
  return [dir, ...folders.map(({ parentPath, name }) => join(parentPath, name))]
}
`
