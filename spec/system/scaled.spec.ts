// npm run demo scaled: what it starts, it stops.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { command } from '../support/command.ts'
import { ask, serial as test, type ExecutionContext } from '../support/index.ts'
import { isHit } from './in-front.ts'

const NODE = process.execPath

test.before(async () => {
  await command(NODE, ['dist/cli.js', 'precompile', '--root', 'demo', '--env', 'production'])
})

/** The demo behind Varnish behind nginx; the ports of nginx, of Varnish and of the replicas. */
async function startScaled(t: ExecutionContext) {
  const child = spawn(NODE, ['--import', 'tsx', 'demo/deploy/scaled.ts'])
  const ended = once(child, 'close')
  t.teardown(async () => {
    child.kill()
    await ended
  })
  const errors = text(child.stderr)
  let said = ''
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(piece)
    if (said.includes('Ctrl-C')) break
  }
  const [, nginx, varnish, replicas = ''] =
    /:(\d+), Varnish at port (\d+), .* ports ([\d, ]+)/.exec(said) ?? []
  const ports = [nginx, varnish, ...replicas.split(', ')].map(Number)
  t.is(ports.length, 5, said)
  return { child, ended, errors, ports, port: Number(nginx) }
}

async function nothingListens(t: ExecutionContext, ports: readonly number[]): Promise<void> {
  for (const port of ports) await t.throwsAsync(ask(port, '/'), { code: 'ECONNREFUSED' })
}

test('an edit of a note removes its pages from Varnish, and Ctrl-C stops everything', async t => {
  const { child, ended, ports, port } = await startScaled(t)
  const paths = ['/caching/notes', '/caching/notes/0', '/caching/notes/1']
  const hits = () => Promise.all(paths.map(async path => isHit(await ask(port, path))))
  await hits()
  t.deepEqual(await hits(), [true, true, true])
  t.is((await ask(port, '/caching/notes/1', { method: 'POST' })).status, 303)
  t.deepEqual(await hits(), [false, true, false])
  t.regex((await ask(port, '/caching/notes/1')).text, /revision 2/)
  child.kill('SIGINT')
  t.deepEqual(await ended, [0, null])
  await nothingListens(t, ports)
})

test('when a process ends by itself, the others are stopped and it is named', async t => {
  const { ended, errors, ports, port } = await startScaled(t)
  const [, pid] = /process <b>(\d+)</.exec((await ask(port, '/caching/notes')).text) ?? []
  process.kill(Number(pid), 'SIGKILL')
  t.deepEqual(await ended, [1, null])
  t.regex(await errors, /^replica [123] was ended by SIGKILL; stopping the others$/m)
  await nothingListens(t, ports)
})
