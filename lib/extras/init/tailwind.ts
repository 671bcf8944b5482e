// The files that `init --tailwind` writes: a compiler of PostCSS in the configuration, and a stylesheet that names
// the views.
export const TAILWIND_STYLES = {
  'stylesheets/app.pcss': `@import 'tailwindcss' source(none);
@source '../../../../views';
@source '../javascripts';
`
}

/** Tailwind does not report a directory that is missing. */
export const VIEWS = { 'views/.gitkeep': '' }

/** Says what is left to do; an existing configuration is kept. */
export function tailwindSteps(config: string, isConfigured: boolean): string {
  const compiler = isConfigured
    ? `Add the compiler of docs/tailwind.md to ${config}, and install`
    : 'Install'
  return `\n${compiler} what it needs:\n\n  npm install --save-dev tailwindcss @tailwindcss/postcss postcss\n`
}

/** The text for the top of the configuration; the parts in guillemets are for TypeScript. */
export function compilerOf(kind: 'typescript' | 'esm' | 'commonjs'): string {
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
