import { mkdir, open, readFile, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { AssetError } from '../errors.ts'
import { errorCode, missing } from './disk.ts'
import { isAlive, remove } from './write-whole.ts'

/** One precompile at a time; the lock of a process that is gone is no lock. */
export async function lock(directory: string): Promise<() => Promise<void>> {
  await mkdir(directory, { recursive: true })
  const file = join(directory, '.koa-fresh-assets.lock')
  await acquire(file, directory)
  return () => remove(file)
}

async function acquire(file: string, directory: string, attempts = 3): Promise<void> {
  try {
    const handle = await open(file, 'wx')
    await handle.writeFile(String(process.pid))
    await handle.close()
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
    const owner = Number(await missing(readFile(file, 'utf8')))
    if (attempts === 0 || (owner !== process.pid && isAlive(owner))) {
      throw new AssetError(
        'precompile-busy',
        `another precompile (process ${owner}) is at work in ${directory}: wait for it, or remove ${file}`
      )
    }
    await missing(unlink(file))
    return acquire(file, directory, attempts - 1)
  }
}
