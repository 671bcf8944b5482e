// A site in a process of its own, so that it can run as an ordinary user: `root` may read everything.
// Each argument is a path to ask for, or `chmod <mode> <file>`.
import { once } from 'node:events'
import { chmodSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import Koa from 'koa'
import { koaAssets } from '../../lib/koa-assets.ts'
import { ask, type Answer } from './ask.ts'

const [root = '', ...steps] = process.argv.slice(2)
const errors: string[] = []
const warnings: string[] = []
console.warn = (message: string) => warnings.push(message)
const mounts = existsSync(join(root, 'build')) ? { '/static': 'build' } : {}
const app = new Koa()
app.on('error', (error: Error) => errors.push(error.message))
app.use(koaAssets({ root, env: 'development', serve: true, mounts }))
const server = app.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const answers: Answer[] = []
for (const step of steps) {
  const [, mode, path] = /^chmod (\d+) (.*)$/.exec(step) ?? []
  if (mode && path) chmodSync(join(root, path), parseInt(mode, 8))
  else answers.push(await ask(port, step))
}
process.send?.({ answers, errors, warnings }, () => process.exit())
