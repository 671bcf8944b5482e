// Adds files to a project, and lines to files that it has.
import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync
} from 'node:fs'
import { dirname, join } from 'node:path'
import { futureRealpath } from '../../runtime/files/at-start.ts'
import { named } from '../../runtime/files/disk.ts'
import { isInside } from '../../runtime/files/paths.ts'

/** A file, and what is done with it. */
export interface FileStep {
  readonly path: string
  readonly action: 'create' | 'add' | 'keep' | 'skip'
  /** The lines that are added, or would be if a link did not lead out of the project. */
  readonly lines?: readonly string[]
  /** The content that it gets, or would get. */
  readonly content?: string | Buffer
}

/** Returns true if a symbolic link leads out of the project, or to nothing. */
export function leadsOut(root: string, path: string): boolean {
  const file = join(root, path)
  const isDangling = !existsSync(file) && lstatSync(file, { throwIfNoEntry: false }) !== undefined
  return isDangling || !isInside(realpathSync(root), futureRealpath(file))
}

/** New files are written here before they get their names. */
export const STAGE = '.koa-fresh-assets-init'

/**
 * Every file appears as a whole, and the app last, with all of its files at once: whatever is missing after an
 * interruption is what the next run creates.
 */
export function addFiles(root: string, steps: readonly FileStep[]): void {
  const stage = join(root, STAGE)
  rmSync(stage, { recursive: true, force: true })
  const created = steps.filter(({ action }) => action === 'create').toReversed()
  try {
    for (const { path, content = '' } of created) {
      mkdirSync(dirname(join(stage, path)), { recursive: true })
      write(join(stage, path), content)
    }
    for (const { path, action, content = '' } of steps) {
      const file = join(root, path)
      if (action === 'add') write(file, content, statSync(file).size)
    }
    for (const { path } of created) {
      const top = firstMissing(root, path)
      if (top !== undefined) renameSync(join(stage, top), join(root, top))
    }
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** Returns the first folder above a path, or the path itself, that does not exist. */
function firstMissing(root: string, path: string): string | undefined {
  const names = path.split('/')
  const paths = names.map((_, at) => names.slice(0, at + 1).join('/'))
  return paths.find(each => !existsSync(join(root, each)))
}

/** Takes back what was added to a file when the disk is full. */
function write(path: string, content: string | Buffer, size?: number): void {
  try {
    appendFileSync(path, content)
  } catch (error) {
    if (size !== undefined) truncateSync(path, size)
    throw named(error, path)
  }
}
