// Packages that real projects use: those of this lane (spec/system/package.json), and those of npm test.
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { command } from '../support/command.ts'

const FOLDERS = ['spec/system/node_modules', 'node_modules'].map(path => resolve(path))

/** Ours is linked as it was built. */
const OURS = 'koa-fresh-assets'

export function folderOf(name: string): string {
  if (name === OURS) return resolve('.')
  const found = FOLDERS.map(folder => join(folder, name)).find(folder => existsSync(folder))
  if (found === undefined)
    throw new Error(`${name} is not installed: npm run lane system installs it`)
  return found
}

export function linkPackages(root: string, names = allNames()): void {
  for (const name of names) {
    const link = join(root, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(folderOf(name), link, 'dir')
  }
}

const allNames = (): readonly string[] => [
  OURS,
  ...new Set(FOLDERS.flatMap(folder => readdirSync(folder).flatMap(name => inScope(folder, name))))
]

function inScope(folder: string, name: string): readonly string[] {
  if (name.startsWith('.')) return []
  return name.startsWith('@')
    ? readdirSync(join(folder, name)).map(each => `${name}/${each}`)
    : [name]
}

export const VITE = resolve('node_modules/vite/bin/vite.js')

/** A command of Node in a project, where NODE_ENV is not what AVA sets. */
export function runInProject(root: string, words: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, NODE_ENV: 'production', ...more }
  return command(process.execPath, words, { cwd: root, env })
}

export const buildWithVite = (root: string, ...words: readonly string[]) =>
  runInProject(root, [VITE, 'build', '--logLevel', 'error', ...words])
