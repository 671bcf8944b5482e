// Finds a program that watches `public` and restarts the server: each file that the server publishes for a page would
// restart it, and requests of the page would be refused meanwhile.
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { helpAt, type Warn } from '../../runtime/errors.ts'
import { undefinedIfMissing } from '../../runtime/files/disk.ts'
import { isInside, pathFrom } from '../../runtime/files/paths.ts'
import type { Settings } from '../../runtime/settings/settings.ts'
import { IGNORED, nodemonConfig, pm2Config, pm2Line } from './ignore.ts'

interface Started {
  readonly cwd: string
  readonly env: Readonly<NodeJS.ProcessEnv>
  /** The command lines of the processes above this one. */
  readonly commands: readonly string[]
}

/** @param started how this process was started. Default: as far as it can be found */
export async function warnOfRestarts(settings: Settings, warn: Warn, started?: Started) {
  const given = started ?? { cwd: process.cwd(), env: process.env, commands: await commandsAbove() }
  const at = { ...given, commands: [given.env.npm_lifecycle_script ?? '', ...given.commands] }
  const { root, publicDir, prefix, apps } = settings
  const published = join(publicDir, prefix)
  const isPublishing = apps.some(app => app.compile)
  for (const program of isPublishing ? [nodemon(at), pm2(at), watchPath(at)] : []) {
    const { watched = [], ignored = '', name, advice } = program ?? {}
    const isWatched = watched.some(path => isInside(resolve(at.cwd, withoutGlob(path)), published))
    if (!isWatched || ignored.includes(basename(publicDir))) continue
    const folder = pathFrom(root, publicDir)
    warn(
      `${name} restarts this server for each file that it publishes into ${folder}, and refuses requests meanwhile: ${advice}. ` +
        `See ${helpAt('live.md#programs-that-restart-the-server')}`
    )
  }
}

const withoutGlob = (path: string) => path.replace(/[^/]*[*?[{].*$/, '')

interface Program {
  readonly name: string
  readonly watched: readonly string[]
  readonly ignored?: string
  readonly advice: string
}

/** Returns the values of an option in a command line, in either spelling. */
const valuesOf = (command: string, option: string) =>
  Array.from(
    command.matchAll(new RegExp(` ${option}[ =]["']?([^ "']+)`, 'g')),
    ([, value = '']) => value
  )

function nodemon({ cwd, commands }: Started): Program | undefined {
  const command = commands.find(each => /(?:^|[/\\ ])nodemon(?:\.js)?(?: |$)/.test(each))
  if (command === undefined) return undefined
  const { path, isOwn, config } = nodemonConfig(cwd)
  const { watch = [], ignore = [] } = config
  const watched = [...valuesOf(command, '(?:-w|--watch)'), ...[watch].flat().map(String)]
  const ignored = [...valuesOf(command, '(?:-i|--ignore)'), ...[ignore].flat().map(String)]
  const list = `"ignore": ${JSON.stringify(IGNORED.map(each => `${each}/`))}`
  return {
    name: 'nodemon',
    watched: watched.length > 0 ? watched : ['.'],
    ignored: ignored.join(' '),
    advice: `write ${isOwn ? list : `"nodemonConfig": { ${list} }`} into ${path}`
  }
}

/** pm2 passes `watch` to the server if it is true, but no lists: without a file, only restarts show that it watches. */
function pm2({ cwd, env }: Started): Program | undefined {
  const { pm_id: id, watch, PM2_JSON_PROCESSING: hasFile, restart_time: times } = env
  if (id === undefined || watch !== 'true' || (!hasFile && times === '0')) return undefined
  const { ignored, place } = pm2Config(cwd)
  return { name: 'pm2', watched: ['.'], ignored, advice: `write ${pm2Line} into ${place}` }
}

function watchPath({ commands, env }: Started): Program | undefined {
  if (env.WATCH_REPORT_DEPENDENCIES === undefined) return undefined
  const watched = commands.flatMap(command => valuesOf(command, '--watch-path'))
  const advice = 'start it with node --watch, which watches what it imports, or watch other folders'
  return { name: 'node --watch-path', watched, advice }
}

const MAX_ABOVE = 6

/** Reads the command lines on Linux; other systems do not show them, so only the script that npm runs is known. */
async function commandsAbove(): Promise<string[]> {
  const commands: string[] = []
  for (let [pid, count] = [process.ppid, 0]; pid > 1 && count < MAX_ABOVE; count++) {
    const [line, stat] = await Promise.all(
      ['cmdline', 'stat'].map(name => undefinedIfMissing(readFile(`/proc/${pid}/${name}`, 'utf8')))
    )
    if (!line || !stat) break
    commands.push(line.replaceAll('\0', ' ').trimEnd())
    pid = Number(/\) \S (\d+) [^)]*$/.exec(stat)?.[1] ?? 0)
  }
  return commands
}
