// The `init` command.
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { nodeModulesFrom } from '../../publishing/compilers/compiler.ts'
import type { KoaAssetsOptions } from '../../runtime/settings/options.ts'
import { appsIn } from '../../runtime/settings/app-settings.ts'
import type { Call, Command, Project } from '../../runtime/app/parts.ts'
import { loadSources } from '../../publishing/sources/sources.ts'
import { isDirectory, readIfThere, statIfThere } from '../../runtime/files/at-start.ts'
import { addFiles, leadsOut, STAGE, type FileStep } from './add-files.ts'
import { OK, UsageError } from '../../publishing/cli/command.ts'
import { stripsTypes } from '../../publishing/cli/config.ts'
import { configOf, contentOf, type Config } from './config-file.ts'
import { table } from '../../publishing/cli/format.ts'
import { tailwindSteps, TAILWIND_STYLES, VIEWS } from './tailwind.ts'

export const init: Command = {
  name: 'init',
  before: 'precompile',
  summary: 'create the files of a new project, or another app in it',
  argument: '[app]',
  about: `Creates apps/web/assets with a stylesheet, a script, an image, a favicon and a
folder for fonts, unless the project has assets already; assets.config.js, as an
ES or a CommonJS module as package.json says, or .ts where there is a tsconfig.json
or typescript among the dependencies; .env.development and .env.test with
SERVE_STATIC_ASSETS=true, the latter with NODE_ENV=test as well; and adds
public/assets and public/assets.json to .gitignore. A file that exists is kept:
lines that .gitignore and the .env files lack are added at the end. Nothing is
written through a symbolic link that leads out of the project. After an
interruption, run it again for the rest.

With a name, it adds that app to the project: apps/<name>/assets with the same
files. Beside other apps, its stylesheet and its script have its name, and a file
whose name another app has is left out. It is an error if there is such an app.`,
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

/** These options make packages cheap to load, where Rolldown is installed. */
const STARTING = ['bundle: true']

async function run({ output, values, args: [argument], loadProject }: Call): Promise<number> {
  const { root: given = '.', 'dry-run': dryRun = false } = values
  const { tailwind = false } = values as { tailwind?: boolean }
  const root = resolve(given)
  if (!isDirectory(root)) throw new UsageError(`--root: no such directory: ${given}`)
  const config = configOf(root)
  const isConfigured = existsSync(join(root, config.name))
  const project =
    argument !== undefined && isConfigured ? await loadProject('development') : undefined
  const options = project?.options ?? {}
  const isRepeated = existsSync(join(root, STAGE))
  const others = appsIn(root).filter(app => !(isRepeated && app === argument))
  if (argument !== undefined) requireNew(argument, root, others, options)
  const isNew = argument !== undefined || !(others.length > 0 || isDirectory(join(root, 'assets')))
  const place = (step: FileStep): FileStep =>
    leadsOut(root, step.path) ? { ...step, action: 'skip' } : step
  const isAnother = argument !== undefined && (others.length > 0 || options.apps !== undefined)
  const stem = isAnother ? argument : 'app'
  const taken = isAnother
    ? await namesOfOthers(
        argument,
        (project ?? (await loadProject('development'))).changed({ env: 'development' })
      )
    : new Set<string>()
  const assets = isNew && assetsOf(argument ?? 'web', stem, taken, tailwind)
  const files = {
    ...assets,
    ...(tailwind && VIEWS),
    [config.name]: contentOf(config, tailwind, STARTING)
  }
  const created = Object.entries(files).map(([path, content]): FileStep => {
    if (existsSync(join(root, path))) return { path, action: 'keep' }
    return place({ path, action: 'create', content })
  })
  const added = Object.entries(LINES).map(([path, wanted]): FileStep => {
    const there = statIfThere(join(root, path))
    // Opening a FIFO would wait for a writer.
    if (there && !there.isFile() && !there.isDirectory()) return { path, action: 'keep' }
    const text = readIfThere(join(root, path))?.toString()
    const lines = Object.keys(wanted).filter(line => !wanted[line]?.test(text ?? ''))
    if (lines.length === 0) return { path, action: 'keep' }
    const content = `${!text || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}\n`
    return place({ path, action: text === undefined ? 'create' : 'add', lines, content })
  })
  if (!dryRun) addFiles(root, [...created, ...added])
  const steps = [...created, ...added].map(({ path, action, lines }) => ({ path, action, lines }))
  const done = table(steps.map(({ path, action, lines = [] }) => [action, path, lines.join(', ')]))
  const isInstalled = (name: string) =>
    nodeModulesFrom(root).some(dir => existsSync(join(dir, name)))
  const needed = ['rolldown', 'esbuild'].filter(name => !isInstalled(name))
  const first = tailwind ? tailwindSteps(config.name, isConfigured) : ''
  const next = isAnother
    ? nextOf(argument, config.name, others, options)
    : nextSteps(config, needed)
  const after = dryRun ? '\nNothing was written.' : `${first}${next}`
  output.result({ root, dryRun, steps }, `${done}\n${after}`)
  return OK
}

/**
 * @throws UsageError for an argument that cannot be a name; Error for an app that exists, and where it would hide
 * another
 */
function requireNew(
  app: string,
  root: string,
  others: readonly string[],
  { apps }: KoaAssetsOptions
): void {
  if (!/^[\w-][\w.-]*$/.test(app)) {
    throw new UsageError(`an app's name consists of letters, digits, '-', '_', '.', got '${app}'`)
  }
  const place = others.includes(app) ? `in apps/${app}/assets` : 'in the option apps'
  if (others.includes(app) || (apps && Object.hasOwn(apps, app))) {
    throw new Error(`there is an app '${app}' already, ${place}: nothing was written`)
  }
  if (apps !== undefined || others.length > 0 || !isDirectory(join(root, 'assets'))) return
  throw new Error(
    `the assets of this project are in assets, which is not searched once there is apps/${app}: move them to apps/web/assets first`
  )
}

/** Says what is left to do for an app beside others. */
function nextOf(
  app: string,
  config: string,
  others: readonly string[],
  { apps, prefix = '/assets' }: KoaAssetsOptions
): string {
  const hasMoved = !apps && others.length === 1 && others[0] !== 'web'
  return [
    ...(apps === undefined ? [] : [`\nNext: add it to the option apps in ${config}: ${app}: {}`]),
    ...(hasMoved
      ? [
          `\n${others[0]} was the only app, at /; now it is at /${others[0]}. To keep it there,`,
          `set apps: { '${others[0]}': { path: '/' }, '${app}': {} } in ${config}.`
        ]
      : []),
    `\nIts pages are those below /${app}, its assets those below ${prefix}/${app}. In its views,`,
    `assets.stylesheet('${app}') is its stylesheet; in all others, assets.app('${app}').stylesheet('${app}').`
  ].join('\n')
}

/** @param packages are those that the options need for production */
function nextSteps({ name, kind }: Config, packages: readonly string[]): string {
  const wanted = `npm install --save-dev ${packages.join(' ')}`
  const installing = packages.length === 0 ? '' : `\n\nFor production: ${wanted}`
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
  <%- assets.javascript('app', { type: 'module' }) %>

Start it with: node --env-file=.env.development${loader} server.${isTyped ? 'ts' : 'js'}${installing}`
}

/** Lists the names of other apps: nobody sees that a view names the asset of the wrong app. */
async function namesOfOthers(app: string, settings: Project): Promise<Set<string>> {
  const sources = await loadSources(settings, () => undefined)
  const others = settings.apps.filter(({ name }) => name !== app)
  const listed = await Promise.all(others.map(each => sources.of(each).list()))
  return new Set(listed.flat().map(({ name }) => name))
}

/** @param stem is that of the stylesheet and the script @param taken are names that no file may have */
function assetsOf(app: string, stem: string, taken: ReadonlySet<string>, isTailwind: boolean) {
  const all = { ...ASSETS, ...(isTailwind ? TAILWIND_STYLES : STYLES) }
  const files = Object.entries(all).flatMap(([given, content]) => {
    const path = given.replace(/\bapp(?=\.\w+$)/, () => stem)
    const isTaken = taken.has(path.replace(/^[^/]+\//, '').replace(/\.pcss$/, '.css'))
    return isTaken ? [] : [[`apps/${app}/assets/${path}`, content] as const]
  })
  return Object.fromEntries(files)
}

/** An app starts with these files, listed by path. */
const ASSETS: Readonly<Record<string, string | Buffer>> = {
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
`,
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

/** Each line for a file that may exist already has an equivalent that counts in its place. */
type StarterLines = Readonly<Record<string, RegExp>>

const SERVE: StarterLines = {
  'SERVE_STATIC_ASSETS=true': /^\s*(?:export\s+)?SERVE_STATIC_ASSETS\s*=/m
}

const LINES: Readonly<Record<string, StarterLines>> = {
  '.env.development': SERVE,
  '.env.test': { 'NODE_ENV=test': /^\s*(?:export\s+)?NODE_ENV\s*=/m, ...SERVE },
  '.gitignore': {
    node_modules: /^\s*\/?node_modules\/?\s*$/m,
    'public/assets': /^\s*\/?public\/assets(?:\/\**)?\s*$/m,
    'public/assets.json': /^\s*\/?public\/assets\.json\s*$/m
  }
}
