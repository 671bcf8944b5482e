// The `init` command: adds files to a project, and lines to files that it has.
import * as fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { nodeModulesFrom } from '../../publishing/compilers/compiler.ts'
import type { KoaAssetsOptions } from '../../runtime/settings/options.ts'
import { appsIn } from '../../runtime/settings/apps.ts'
import type { Call, Command } from '../../runtime/app/extra.ts'
import {
  futureRealpath,
  isDirectory,
  readIfThere,
  statIfThere
} from '../../runtime/files/at-start.ts'
import { named } from '../../runtime/files/disk.ts'
import { isInside } from '../../runtime/files/paths.ts'
import { UsageError, table } from '../../publishing/cli/command.ts'
import { stripsTypes } from '../../publishing/cli/config.ts'
import { nodemonIgnoring, pm2Ignoring } from '../restarts/ignore.ts'
import { assetsOf, configOf, contentOf, LINES, type Config } from './starter-files.ts'

export const init: Command = {
  name: 'init',
  before: 'precompile',
  summary: 'create the files of a new project, or another app in it',
  argument: '[app]',
  about: `Creates apps/web/assets with a stylesheet, a script, an image, a favicon and a
folder for fonts, unless the project has assets already; assets.config.js, .ts or
.mts; .env.development and .env.test; and adds what is published to .gitignore.
Where nodemon is among the dependencies, its configuration ignores public and
apps/*/assets. A file that exists is kept, but for lines that are added to it.
Nothing is written through a symbolic link that leads out of the project.
After an interruption, run it again for the rest.

With a name, it adds that app to the project: apps/<name>/assets. Beside other apps
that is a stylesheet and a script, which have its name.`,
  options: {
    'dry-run': { description: 'list what would be done, and write nothing' },
    tailwind: { description: 'begin with Tailwind: a compiler of PostCSS, and a stylesheet' }
  },
  examples: [
    ['koa-fresh-assets init --dry-run', 'Look first:'],
    ['koa-fresh-assets init admin', 'Add an app, whose pages are at /admin:'],
    ['koa-fresh-assets init --root server', 'In a directory other than this one:']
  ],
  run
}

/** New files are written here before they get their names. */
const STAGE = '.koa-fresh-assets-init'

const TAILWIND = ['tailwindcss', '@tailwindcss/postcss', 'postcss']

async function run({ output, values, args: [argument], loadProject }: Call): Promise<number> {
  const { root: given = '.', 'dry-run': dryRun = false } = values
  const { tailwind = false } = values as { tailwind?: boolean }
  const root = resolve(given)
  if (!isDirectory(root)) throw new UsageError(`--root: no such directory: ${given}`)
  const config = configOf(root)
  const isConfigured = fs.existsSync(join(root, config.name))
  const project = argument === undefined ? undefined : await loadProject('development')
  const options = project?.options ?? {}
  const isRepeated = fs.existsSync(join(root, STAGE))
  const others = appsIn(root).filter(app => !(isRepeated && app === argument))
  if (argument !== undefined) requireNew(argument, root, others, options.apps)
  const isNew = argument !== undefined || !(others.length > 0 || isDirectory(join(root, 'assets')))
  const isAnother = argument !== undefined && (others.length > 0 || options.apps !== undefined)
  const files = {
    ...(isNew && assetsOf(argument ?? 'web', isAnother, tailwind)),
    // Tailwind does not report a missing directory.
    ...(tailwind && { 'views/.gitkeep': '' }),
    [config.name]: contentOf(config, tailwind)
  }
  // nodemon would restart the server for each file that a page makes it publish.
  const forNodemon = nodemonIgnoring(root)
  const planned = [
    ...Object.entries(files).map(([path, content]) => creating(root, path, content)),
    ...Object.entries(LINES).map(([path, lines]) => adding(root, path, lines)),
    ...(forNodemon ? [{ ...forNodemon, action: 'add', isWhole: true } as const] : [])
  ].map((step): FileStep => {
    const isLeft = step.action !== 'keep' && leadsOut(root, step.path)
    return isLeft ? { ...step, action: 'skip' } : step
  })
  const steps = planned.map(({ path, action, lines }) => ({ path, action, lines }))
  const done = table(steps.map(({ path, action, lines = [] }) => [action, path, lines.join(', ')]))
  const needed = tailwind ? installOf(root, TAILWIND) : ''
  const compiler = `Add the compiler of docs/tailwind.md to ${config.name}`
  const advice = [
    ...(tailwind && isConfigured ? [compiler] : []),
    ...(needed ? [`Install what Tailwind needs:\n\n  ${needed}`] : []),
    ...[pm2Ignoring(root) ?? []].flat()
  ]
  const first = advice.map(line => `\n${line}\n`).join('')
  const next = isAnother ? nextOf(argument, config.name, others, options) : nextSteps(config, root)
  const after = dryRun ? '\nNothing was written.' : `${first}${next}`
  // Once all of it is written, nothing may fail.
  if (!dryRun) addFiles(root, planned)
  return output.result({ root, dryRun, steps }, `${done}\n${after}`)
}

/** The lines and the content are those that the file gets, or would get if no link led out of the project. */
interface FileStep {
  readonly path: string
  readonly action: 'create' | 'add' | 'keep' | 'skip'
  readonly lines?: readonly string[]
  readonly content?: string | Buffer
  /** True if the content is that of the whole file, which exists. */
  readonly isWhole?: boolean
}

const creating = (root: string, path: string, content: string | Buffer): FileStep =>
  fs.existsSync(join(root, path)) ? { path, action: 'keep' } : { path, action: 'create', content }

function adding(root: string, path: string, wanted: Readonly<Record<string, RegExp>>): FileStep {
  const there = statIfThere(join(root, path))
  if (there && !there.isFile() && !there.isDirectory()) return { path, action: 'keep' }
  const text = readIfThere(join(root, path))?.toString()
  const lines = Object.keys(wanted).filter(line => !wanted[line]?.test(text ?? ''))
  if (lines.length === 0) return { path, action: 'keep' }
  const content = `${!text || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}\n`
  return { path, action: text === undefined ? 'create' : 'add', lines, content }
}

type Apps = KoaAssetsOptions['apps']

/** @throws UsageError for an invalid name; Error for an app that exists, or that would hide another */
function requireNew(app: string, root: string, others: readonly string[], apps: Apps): void {
  if (!/^[\w-][\w.-]*$/.test(app))
    throw new UsageError(`an app's name consists of letters, digits, '-', '_', '.', got '${app}'`)
  const place = others.includes(app) ? `in apps/${app}/assets` : 'in the option apps'
  if (others.includes(app) || (apps && Object.hasOwn(apps, app)))
    throw new Error(`there is an app '${app}' already, ${place}: nothing was written`)
  if (apps !== undefined || others.length > 0 || !isDirectory(join(root, 'assets'))) return
  throw new Error(
    `the assets of this project are in assets, which is not searched once there is apps/${app}: move them to apps/web/assets first`
  )
}

function nextOf(
  app: string,
  config: string,
  [other, ...more]: readonly string[],
  { apps, prefix = '/assets' }: KoaAssetsOptions
): string {
  const isListed = apps && `\nNext: add it to the option apps in ${config}: ${app}: {}\n`
  const hasMoved = !apps && other !== undefined && other !== 'web' && more.length === 0
  const moved = `
${other} was the only app, at /; now it is at /${other}. To keep it there,
set apps: { '${other}': { path: '/' }, '${app}': {} } in ${config}.
`
  return `${isListed ?? ''}${hasMoved ? moved : ''}
Its pages are those below /${app}, its assets those below ${prefix}/${app}. In its views,
assets.stylesheet('${app}') is its stylesheet; in all others, assets.app('${app}').stylesheet('${app}').`
}

function nextSteps({ name, kind }: Config, root: string): string {
  const needed = installOf(root, ['rolldown', 'esbuild'])
  const wanted = needed && `\n\nFor production: ${needed}`
  const isTyped = kind === 'typescript'
  const note = isTyped ? ` // for tsc and tsx: ${name.replace(/ts$/, 'js')}` : ''
  const loader = isTyped && !stripsTypes() ? ' --import tsx' : ''
  const loading =
    kind === 'commonjs'
      ? `const { koaAssets } = require('koa-fresh-assets')
  const options = require('./${name}')`
      : `import { koaAssets } from 'koa-fresh-assets'
  import options from './${name}'${note}`
  return `
Next, in the application, in front of the router:

  ${loading}

  app.use(koaAssets(options))

and in a view, where the helpers are called assets:

  <%- assets.stylesheet('app') %>
  <%- assets.importMap({ entry: 'app' }) %>
  <%- assets.live() %>
  <%- assets.javascript('app', { type: 'module' }) %>

Start it with: node --env-file=.env.development${loader} server.${isTyped ? 'ts' : 'js'}${wanted}`
}

/** Returns the command that installs missing packages; empty if there are none. */
function installOf(root: string, names: readonly string[]): string {
  const folders = nodeModulesFrom(root)
  const needed = names.filter(each => !folders.some(dir => fs.existsSync(join(dir, each))))
  return needed.length > 0 ? `npm install --save-dev ${needed.join(' ')}` : ''
}

/** Tells whether a symbolic link leads out of the project, or to nothing. */
function leadsOut(root: string, path: string): boolean {
  const file = join(root, path)
  const isDangling = !fs.existsSync(file) && fs.lstatSync(file, { throwIfNoEntry: false })
  return !!isDangling || !isInside(fs.realpathSync(root), futureRealpath(file))
}

/** Every file appears whole, and the app last, at once; after an interruption the next run creates the missing ones. */
function addFiles(root: string, steps: readonly FileStep[]): void {
  const stage = join(root, STAGE)
  fs.rmSync(stage, { recursive: true, force: true })
  const isStaged = ({ action, isWhole }: FileStep) =>
    action === 'create' || (isWhole && action === 'add')
  const created = steps.filter(isStaged).toReversed()
  try {
    for (const { path, content = '' } of created) {
      fs.mkdirSync(dirname(join(stage, path)), { recursive: true })
      write(join(stage, path), content)
    }
    for (const { path, action, content = '', isWhole } of steps) {
      const file = join(root, path)
      if (action === 'add' && !isWhole) write(file, content, fs.statSync(file).size)
    }
    for (const { path, isWhole } of created) {
      const names = path.split('/')
      const paths = names.map((_, at) => names.slice(0, at + 1).join('/'))
      const top = isWhole ? path : paths.find(each => !fs.existsSync(join(root, each)))
      if (top !== undefined) fs.renameSync(join(stage, top), join(root, top))
    }
  } finally {
    fs.rmSync(stage, { recursive: true, force: true })
  }
}

/** Appends to a file; on failure, such as a full disk, removes what was appended. */
function write(path: string, content: string | Buffer, size?: number): void {
  try {
    fs.appendFileSync(path, content)
  } catch (error) {
    if (size !== undefined) fs.truncateSync(path, size)
    throw named(error, path)
  }
}
