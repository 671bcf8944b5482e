// What a process in a container of its own does to a directory that it shares: `hold` writes a temporary
// file and takes the lock until its input ends; `visit` sweeps, and asks for the lock.
import { writeFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { lock } from '../../lib/publishing/writing/lock.ts'
import { sweep, temporaryName } from '../../lib/publishing/writing/write.ts'

const [what = '', directory = ''] = process.argv.slice(2)

if (what === 'hold') {
  const file = join(directory, temporaryName())
  writeFileSync(file, 'half a fi')
  utimesSync(file, 1e9, 1e9)
  const held = await lock(directory, () => undefined)
  console.log(`process ${process.pid}`)
  process.stdin.resume().on('end', () => void held.release())
} else {
  await sweep(directory)
  const refusal = await lock(directory, () => undefined).catch((error: unknown) => error)
  console.log(`process ${process.pid}`, (refusal as { code?: string }).code)
}
