// Finds settings under which nothing is served: possibly intended, more often a mistake.
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { Project } from '../../runtime/app/extra.ts'
import { isDirectory, readDirectory, statIfThere } from '../../runtime/files/at-start.ts'
import { entriesGiven } from '../../runtime/check-options.ts'
import { hasSources } from '../../runtime/settings/apps.ts'
import { ENVIRONMENTS } from '../../runtime/settings/table.ts'
import { assetSources } from '../../runtime/settings/third-party.ts'
import { pathFrom } from '../../runtime/files/paths.ts'

export function noticesAtStart(project: Project, processEnv = process.env): string[] {
  return [
    noApp(project),
    neitherMode(project),
    notServing(project, processEnv.SERVE_STATIC_ASSETS),
    ...missingInMounts(project)
  ].filter(message => message !== undefined)
}

function noApp({ root, publicDir, serve, mounts, apps, options }: Project): string | undefined {
  const isNeeded = apps.some(app => app.compile) && !apps.some(hasSources)
  if (options.apps || !isNeeded || assetSources.list().length > 0) return undefined
  // Serving files that need no source is a valid use.
  if (mounts.length > 0 || (serve && readDirectory(publicDir).length > 0)) return undefined
  return `no app was found: ${root} contains neither apps/<name>/assets nor assets. Create apps/web/assets, or set the option root or apps`
}

function neitherMode({ env, apps, options }: Project): string | undefined {
  const idle = apps.filter(app => !app.compile && !app.fingerprint)
  const layers = [options, ...entriesGiven(options.apps || {}).map(([, app]) => app)]
  const isNamed = layers.some(layer => Object.hasOwn(layer.configure ?? {}, env))
  // Only these environments have defaults for `compile` and `fingerprint` that publish something.
  if (ENVIRONMENTS.includes(env) || isNamed || idle.length === 0) return undefined
  const configure = (layer: object) =>
    `configure: ${inspect({ [env]: layer }, { breakLength: Infinity })}`
  const names = idle.map(app => app.name).join(', ')
  // `prod`, `Production`
  const meant = ENVIRONMENTS.find(each => each.startsWith(env.trim().toLowerCase()))
  const advice = meant === undefined ? 'Set' : `Did you mean '${meant}'? Otherwise set`
  return `neither compile nor fingerprint is on in the environment ${inspect(env)}, so no source is published (apps: ${names}). ${advice} ${configure({ compile: true })}, or precompile and set ${configure({ fingerprint: true })}`
}

/** Outside of development these values mean that a server in front sends the files; others get a warning. */
const NO = /^(?:false|0|no|off)$/i

/** Any other value, or none, is worth a warning in development; elsewhere precompile publishes the sources. */
function notServing({ env, serve, apps, mounts, options }: Project, given?: string) {
  const isDevelopment = env === 'development'
  const isMeant = given && !isDevelopment && NO.test(given)
  if (serve || options.serve === false || isMeant) return undefined
  const isSought = isDevelopment ? apps.some(hasSources) : given && apps.length > 0
  const what = [
    ...(isSought ? ['assets'] : []),
    ...(mounts.some(({ isServed }) => isServed) ? ['mounts'] : [])
  ]
  if (what.length === 0) return undefined
  const off = isDevelopment ? 'set serve: false' : "set it to 'false'"
  const reason = given ? `is ${inspect(given)}, not 'true'` : 'is not set'
  return `${what.join(' and ')} are not served, because SERVE_STATIC_ASSETS ${reason}. Set it to 'true' or set serve: true; if a front web server serves them, ${off}`
}

function missingInMounts({ root, serve, mounts }: Project): (string | undefined)[] {
  return mounts.map(({ isServed, urlPath, dir, fallback, manifest }) => {
    if (!serve || !isServed) return undefined
    if (!isDirectory(dir)) {
      // Before the first build the page names the remedy, and in production the build is required.
      if (manifest !== undefined) return undefined
      return `the directory ${pathFrom(root, dir)} of the mount ${urlPath || '/'} does not exist in ${root}: its files are a 404 until it does`
    }
    if (fallback === undefined || statIfThere(join(dir, fallback))?.isFile()) return undefined
    const file = pathFrom(root, join(dir, fallback))
    return `the mount ${urlPath || '/'} has the fallback ${fallback}, but there is no file ${file}: until it is built, navigations end in a 404`
  })
}
