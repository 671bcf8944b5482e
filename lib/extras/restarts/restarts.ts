// Finds a program that watches `public` and restarts the server: each file that a page makes the server publish would
// restart it, and the requests of the page would be refused meanwhile.
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { isRecord } from '../../runtime/check-options.ts'
import { helpAt, type Warn } from '../../runtime/errors.ts'
import { undefinedIfMissing } from '../../runtime/files/disk.ts'
import { isInside, pathFrom } from '../../runtime/files/paths.ts'
import { readDirectory } from '../../runtime/files/at-start.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

/** The folders that such a program has to ignore: the server publishes into one, and reads the others when it is asked. */
export const IGNORED = ['public', 'apps/*/assets']

/** Matches what pm2 reads, other than its command line. */
export const PM2_CONFIG = /^(?:ecosystem|pm2|process)[\w.-]*\.(?:[cm]?js|json|ya?ml)$/

interface Started {
  /** The directory in which the program was started. */
  readonly cwd: string
  readonly env: Readonly<NodeJS.ProcessEnv>
  /** The command lines of the processes above this one, and of the script that npm runs. */
  readonly commands: readonly string[]
}

/** @param started defaults to what can be told of this process */
export async function warnOfRestarts(settings: Settings, warn: Warn, started?: Started) {
  const at = started ?? { cwd: process.cwd(), env: process.env, commands: await commandsAbove() }
  const { root, publicDir, prefix, apps } = settings
  const published = join(publicDir, prefix)
  const isPublishing = apps.some(app => app.compile)
  const found = isPublishing ? [await nodemon(at), await pm2(at), watchPath(at)] : []
  for (const program of found) {
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
  /** A text that names what is ignored. */
  readonly ignored?: string
  readonly advice: string
}

/** Returns the values of an option in a command line, in either spelling. */
const valuesOf = (command: string, option: string) =>
  Array.from(
    command.matchAll(new RegExp(` ${option}[ =]["']?([^ "']+)`, 'g')),
    ([, value = '']) => value
  )

async function nodemon({ cwd, commands }: Started): Promise<Program | undefined> {
  const command = commands.find(each => /(?:^|[/\\ ])nodemon(?:\.js)?(?: |$)/.test(each))
  if (command === undefined) return undefined
  const own = await recordIn(resolve(cwd, 'nodemon.json'))
  const config = own ?? (await recordIn(resolve(cwd, 'package.json')))?.['nodemonConfig']
  const { watch = [], ignore = [] } = isRecord(config) ? config : {}
  const watched = [...valuesOf(command, '(?:-w|--watch)'), ...[watch].flat().map(String)]
  const ignored = [...valuesOf(command, '(?:-i|--ignore)'), ...[ignore].flat().map(String)]
  const list = JSON.stringify(IGNORED.map(each => `${each}/`))
  const place = own
    ? `"ignore": ${list} into nodemon.json`
    : `"nodemonConfig": { "ignore": ${list} } into package.json`
  return {
    name: 'nodemon',
    watched: watched.length > 0 ? watched : ['.'],
    ignored: ignored.join(' '),
    advice: `write ${place}`
  }
}

export const PM2_IGNORED = JSON.stringify([...IGNORED, 'node_modules'])

/** pm2 gives `watch` to the server if it is true, but no lists: without a file, a restart shows that it restarts anything. */
async function pm2({ cwd, env }: Started): Promise<Program | undefined> {
  const { pm_id: id, watch, PM2_JSON_PROCESSING: hasFile, restart_time: times } = env
  if (id === undefined || watch !== 'true' || (!hasFile && times === '0')) return undefined
  const names = readDirectory(cwd).flatMap(({ name }) => (PM2_CONFIG.test(name) ? [name] : []))
  const texts = await Promise.all(names.map(name => readFile(resolve(cwd, name), 'utf8')))
  const advice = `write ignore_watch: ${PM2_IGNORED} into the app's entry of ${names[0] ?? 'ecosystem.config.cjs'}`
  const ignored = texts.filter(text => text.includes('ignore_watch')).join(' ')
  return { name: 'pm2', watched: ['.'], ignored, advice }
}

function watchPath({ commands, env }: Started): Program | undefined {
  if (env.WATCH_REPORT_DEPENDENCIES === undefined) return undefined
  const watched = commands.flatMap(command => valuesOf(command, '--watch-path'))
  const advice = 'start it with node --watch, which watches what it imports, or watch other folders'
  return { name: 'node --watch-path', watched, advice }
}

async function recordIn(path: string) {
  const text = await undefinedIfMissing(readFile(path, 'utf8'))
  try {
    const value: unknown = text && JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

const MAX_ABOVE = 6

/** Linux tells of every process above; elsewhere there is only the script that npm runs. */
async function commandsAbove(): Promise<string[]> {
  const commands = [process.env.npm_lifecycle_script ?? '']
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
