// Changes of every kind of file that a replica serves, each of which the next requests must show.
import { closeSync, mkdirSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { ExecutionContext } from './test.ts'
import { errorCode } from '../../lib/runtime/files/disk.ts'
import type { StartedReplica } from './replica.ts'
import { writeFiles, type Files } from './site.ts'
import { until } from './until.ts'

/** A project for `seesEveryChange`. */
export const CHANGING: Files = {
  'apps/web/assets/css/a.css': 'one',
  'apps/web/assets/css/s.css.scss': '@use "part";',
  'apps/web/assets/css/_part.scss': 'a { b: one }',
  'public/a.txt': 'one',
  'build/a.txt': 'one',
  'build/deep/a.txt': 'one',
  'data/a.txt': 'one'
}

/** By URL path: what is asked for, and the file behind it. */
const FILES: Readonly<Record<string, string>> = {
  '/assets/a.css': 'apps/web/assets/css/a.css',
  '/assets/s.css': 'apps/web/assets/css/_part.scss',
  '/assets/new.css': 'apps/web/assets/css/new.css',
  '/a.txt': 'public/a.txt',
  '/new.txt': 'public/new.txt',
  '/static/a.txt': 'build/a.txt',
  '/static/deep/a.txt': 'build/deep/a.txt',
  '/static/new.txt': 'build/new.txt',
  '/static/deep/new.txt': 'build/deep/new.txt',
  '/files/a.txt': 'data/a.txt',
  '/files/new.txt': 'data/new.txt'
}

// Five seconds, where the machine has nothing else to do.
const LOOKS = 500

/** Files that are edited, created, moved with their folder, and removed: each is seen within seconds. */
export async function seesEveryChange(t: ExecutionContext, replica: StartedReplica, root: string) {
  const shows = (path: string, expected: string | undefined) => {
    const isShown = async () => {
      const { status, text } = await replica.ask(path)
      return expected === undefined ? status === 404 : text.includes(expected)
    }
    return until(isShown, `${path} is ${expected ?? 'missing'}`, LOOKS)
  }
  // Often enough that it is remembered.
  for (let times = 0; times < 4; times++)
    for (const path of Object.keys(FILES))
      await shows(path, path.includes('new') ? undefined : 'one')
  for (const text of ['two', 'three'])
    for (const [path, file] of Object.entries(FILES)) {
      writeFiles(root, { [file]: file.endsWith('.scss') ? `a { b: ${text} }` : text })
      await shows(path, text)
    }
  for (const [folder, path] of [
    ['build/deep', '/static/deep/a.txt'],
    ['build', '/static/a.txt'],
    ['data', '/files/a.txt'],
    ['apps/web/assets/css', '/assets/a.css']
  ] as const) {
    renameSync(join(root, folder), join(root, `last ${folder.replaceAll('/', ' ')}`))
    mkdirSync(join(root, folder))
    writeFiles(root, { [FILES[path] ?? '']: 'four' })
    await shows(path, 'four')
  }
  for (const path of ['/a.txt', '/static/a.txt', '/files/a.txt', '/assets/a.css']) {
    unlinkSync(join(root, FILES[path] ?? ''))
    await shows(path, undefined)
  }
  t.deepEqual(replica.errors, [])
}

/** Writes a file until its disk is full. */
export function fillDisk(path: string): void {
  const file = openSync(path, 'w')
  for (let size = 1 << 20; size >= 1; size >>= 4) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size))
    } catch (error) {
      if (errorCode(error) !== 'ENOSPC') throw error
    }
  }
  closeSync(file)
}
