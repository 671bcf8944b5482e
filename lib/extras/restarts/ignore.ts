// Reads and makes the lists of folders that nodemon and pm2 must ignore.
import { join } from 'node:path'
import { isRecord } from '../../runtime/check-options.ts'
import { reasonOf } from '../../runtime/errors.ts'
import { readDirectory, readIfThere } from '../../runtime/files/at-start.ts'

/** The folders to ignore: the server publishes into one, and reads the others on request. */
export const IGNORED = ['public', 'apps/*/assets']

/** Returns the record in a JSON file of the project; empty if there is none. @throws Error for text that is not JSON */
export function recordOf(root: string, name: string): Readonly<Record<string, unknown>> {
  const file = join(root, name)
  const text = readIfThere(file)?.toString() ?? '{}'
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : {}
  } catch (error) {
    throw new Error(`${file} is not valid JSON: ${reasonOf(error)}`, { cause: error })
  }
}

export function dependenciesOf(root: string): readonly string[] {
  const { dependencies, devDependencies } = recordOf(root, 'package.json')
  return Object.keys(Object.assign({}, dependencies, devDependencies))
}

/** Finds the configuration of nodemon: a file of its own or, without one, a part of package.json. */
export function nodemonConfig(root: string) {
  const isOwn = readIfThere(join(root, 'nodemon.json')) !== undefined
  const path = isOwn ? 'nodemon.json' : 'package.json'
  const all = recordOf(root, path)
  const config = isOwn ? all : all['nodemonConfig']
  return { path, isOwn, all, config: isRecord(config) ? config : {} }
}

/** Returns nodemon's file with the missing folders added; undefined if none is missing or nodemon is not used. */
export function nodemonIgnoring(root: string) {
  const { path, isOwn, all, config } = nodemonConfig(root)
  if (!isOwn && !dependenciesOf(root).includes('nodemon')) return undefined
  const { ignore = [], ...rest } = config
  const list = [ignore].flat().map(String)
  const lines = IGNORED.filter(each => !list.some(known => known.startsWith(each)))
  if (lines.length === 0) return undefined
  const next = { ...rest, ignore: [...list, ...lines.map(each => `${each}/`)] }
  const indent = /^\{\r?\n([\t ]+)/.exec(readIfThere(join(root, path))?.toString() ?? '')?.[1] ?? 2
  const content = JSON.stringify(isOwn ? next : { ...all, nodemonConfig: next }, null, indent)
  return { path, lines, content: `${content}\n` }
}

export const pm2Line = `ignore_watch: ${JSON.stringify([...IGNORED, 'node_modules'])}`

/** Finds the files that pm2 reads, which may be code, and the texts of those with `ignore_watch`. */
export function pm2Config(root: string) {
  const files = readDirectory(root).flatMap(({ name }) => (PM2_FILE.test(name) ? name : []))
  const texts = files.map(name => readIfThere(join(root, name))?.toString() ?? '')
  const ignored = texts.filter(text => text.includes('ignore_watch')).join(' ')
  const place = `the app's entry of ${files[0] ?? 'ecosystem.config.cjs'}`
  return { isThere: files.length > 0, ignored, place }
}

const PM2_FILE = /^(?:ecosystem|pm2|process)[\w.-]*\.(?:[cm]?js|json|ya?ml)$/

/** Returns advice for pm2; undefined if pm2 is not used or needs none. */
export function pm2Ignoring(root: string): string | undefined {
  const { isThere, ignored, place } = pm2Config(root)
  const isUsed = isThere || dependenciesOf(root).includes('pm2')
  if (!isUsed || ignored !== '') return undefined
  return `For pm2 with watch, write into ${place}:\n\n  ${pm2Line}`
}
