// Makes the lists by which nodemon and pm2 ignore what a server publishes, for `init`.
import { join } from 'node:path'
import { isRecord } from '../../runtime/check-options.ts'
import { reasonOf } from '../../runtime/errors.ts'
import { readDirectory, readIfThere } from '../../runtime/files/at-start.ts'
import { IGNORED, PM2_CONFIG, PM2_IGNORED } from './restarts.ts'

/** Returns the record in a JSON file of the project; empty if there is none. @throws Error for text that is no JSON */
export function recordOf(root: string, name: string): Readonly<Record<string, unknown>> {
  const file = join(root, name)
  try {
    const value: unknown = JSON.parse(readIfThere(file)?.toString() ?? '{}')
    return isRecord(value) ? value : {}
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${reasonOf(error)}`, { cause: error })
  }
}

/** Returns the names of the packages that the project depends on. */
export function dependenciesOf(root: string): readonly string[] {
  const { dependencies, devDependencies } = recordOf(root, 'package.json')
  return Object.keys(Object.assign({}, dependencies, devDependencies))
}

/** Returns the file in which nodemon finds what it ignores, with what it lacks; undefined where nodemon is not used. */
export function nodemonIgnoring(root: string) {
  const hasOwn = readIfThere(join(root, 'nodemon.json')) !== undefined
  if (!hasOwn && !dependenciesOf(root).includes('nodemon')) return undefined
  const path = hasOwn ? 'nodemon.json' : 'package.json'
  const all = recordOf(root, path)
  const config = hasOwn ? all : all['nodemonConfig']
  const { ignore = [], ...rest } = isRecord(config) ? config : {}
  const list = [ignore].flat().map(String)
  const lines = IGNORED.filter(each => !list.some(known => known.startsWith(each)))
  const next = { ...rest, ignore: [...list, ...lines.map(each => `${each}/`)] }
  const indent = /^\{\r?\n([\t ]+)/.exec(readIfThere(join(root, path))?.toString() ?? '')?.[1] ?? 2
  const content = JSON.stringify(hasOwn ? next : { ...all, nodemonConfig: next }, null, indent)
  return { path, lines, content: `${content}\n` }
}

/** Says what to write for pm2, whose configuration is code; undefined where pm2 is not used. */
export function pm2Ignoring(root: string): string | undefined {
  const file = readDirectory(root).find(({ name }) => PM2_CONFIG.test(name))?.name
  if (file === undefined && !dependenciesOf(root).includes('pm2')) return undefined
  if (file !== undefined && readIfThere(join(root, file))?.includes('ignore_watch'))
    return undefined
  const place = file ?? 'ecosystem.config.cjs'
  return `For pm2 with watch, write into the app's entry of ${place}:\n\n  ignore_watch: ${PM2_IGNORED}`
}
