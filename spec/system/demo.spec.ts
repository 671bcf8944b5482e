// npm run demo, and npm run demo scaled: what that starts, it stops.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { freePort } from '../../demo/deploy/stack.ts'
import { command } from '../support/command.ts'
import { ask, serial as test, until, type ExecutionContext } from '../support/index.ts'
import { startProgram } from '../support/processes.ts'
import { launch } from './chromium.ts'
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
  let said = ''
  for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
    said += String(piece)
    if (said.includes('Ctrl-C')) break
  }
  const [, nginx, varnish, replicas = ''] =
    /:(\d+), Varnish at port (\d+), .* ports ([\d, ]+)/.exec(said) ?? []
  const ports = [nginx, varnish, ...replicas.split(', ')].map(Number)
  t.is(ports.length, 5, said)
  return { child, ended, ports, port: Number(nginx) }
}

test('the scaled demo removes edited pages from its Varnish until Ctrl-C ends all processes', async t => {
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
  for (const port of ports) await t.throwsAsync(ask(port, '/'), { code: 'ECONNREFUSED' })
})

test('in development each page of the demo finds all that it loads', async t => {
  const port = await freePort()
  const demo = { SERVE_STATIC_ASSETS: 'true', DEMO_VITE: 'true', PORT: String(port) }
  const env = { ...process.env, NODE_ENV: 'development', ...demo }
  startProgram(t, ['--import', 'tsx', 'demo/server.ts'], { env })
  const listens = () =>
    ask(port, '/health').then(
      () => true,
      () => false
    )
  await until(listens, 'the demo listens')
  const page = await launch(t).open(`http://127.0.0.1:${port}/`)
  for (const path of ['/caching', '/caching/notes', '/packages', '/admin', '/vite']) {
    await page.follow(`http://127.0.0.1:${port}${path}`)
    t.truthy(await page.evaluate("document.querySelector('h1')?.textContent"), path)
  }
  t.deepEqual(page.complaints, [])
})
