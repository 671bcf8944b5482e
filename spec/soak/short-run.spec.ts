// npm run lane traffic, for as long as it takes to fill each disk once.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { LOADER, moduleFile, test } from '../support/index.ts'

test('no response is wrong while files change, disks fill up and replicas end', async t => {
  const words = [...LOADER, moduleFile('spec/soak/program/main.ts'), '--minutes', String(22 / 60)]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  const closed = once(child, 'close') as Promise<[number | null]>
  const [said, [status]] = await Promise.all([text(child.stdout), closed])
  t.is(status, 0, said)
  t.regex(said, /^ +[1-9]\d* {2}checked$/m)
})
