// The server of docs/deploy.md, behind nginx as that page says.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { freePort, started } from '../../demo/deploy/stack.ts'
import { makeExample, readPart } from '../support/examples.ts'
import { ask, test, until, type ExecutionContext } from '../support/index.ts'
import { proxyInFront } from './in-front.ts'

/** Its application, precompiled; `start` starts its server. */
async function makeShop(t: ExecutionContext) {
  const site = makeExample(t, { 'package.json': '{ "type": "module" }' })
  await site.run('npx koa-fresh-assets init')
  await site.follow(
    readPart('docs/deploy.md')
      .take('What these files expect')
      .filter(({ file }) => file !== undefined)
  )
  await site.run('npx koa-fresh-assets precompile --env production')
  const start = async (port: number, NODE_ENV = 'production', program = 'server.js') => {
    const env = { ...process.env, NODE_ENV, SERVE_STATIC_ASSETS: 'true' }
    const words = { cwd: site.root, env: { ...env, PORT: String(port), HOST: '127.0.0.1' } }
    const child = spawn(process.execPath, [program], words)
    t.teardown(() => child.kill('SIGKILL'))
    return started(program, child, port)
  }
  return { ...site, start }
}

test('behind nginx the server of deploy.md ends at once without failing a request', async t => {
  const shop = await makeShop(t)
  // Some responses are on their way whenever the process is told to stop.
  shop.write({ 'public/large.bin': Buffer.alloc(5_000_000) })
  const [one, two] = [await freePort(), await freePort()]
  const [stopped] = await Promise.all([shop.start(one), shop.start(two)])
  const port = await proxyInFront(t, one, two, two)
  const state = { isOver: false, statuses: new Set<number>() }
  const visitor = async (number: number) => {
    const path = number % 2 === 0 ? '/large.bin' : '/'
    while (!state.isOver) state.statuses.add((await ask(port, path)).status)
  }
  const visitors = Array.from({ length: 6 }, (_, number) => visitor(number))
  await until(() => state.statuses.size > 0, 'the first response')
  const ended = stopped.stop()
  stopped.child.once('exit', () => (state.isOver = true))
  await until(() => state.isOver, 'it has ended', 1000).finally(() => (state.isOver = true))
  await Promise.all([ended, ...visitors])
  t.deepEqual([...state.statuses], [200])
})

test('only in production does the server of deploy.md wait for idle connections before it ends', async t => {
  const shop = await makeShop(t)
  for (const env of ['development', 'production']) {
    const { port, child } = await shop.start(await freePort(), env)
    // A server that waits for its connections waits for ever for the rest of this request.
    const half = connect(port, '127.0.0.1', () => half.write('GET / HTTP/1.1\r\n'))
    half.on('error', () => {})
    if (env === 'production') half.destroy()
    const agent = new Agent({ keepAlive: true })
    const start = performance.now()
    t.is((await ask(port, '/', { agent })).status, 200)
    const channel = get({ host: '127.0.0.1', port, agent, path: '/assets/-/live' })
    channel.on('error', () => {})
    await once(channel, 'response')
    child.kill('SIGTERM')
    await until(() => child.exitCode !== null, `it ends in ${env}`)
    const duration = performance.now() - start
    t.log(`${env}: ${duration.toFixed()} ms`)
    // Node closes a connection once it has been idle for five seconds.
    if (env === 'production') t.true(duration > 4900, `${duration} ms`)
    agent.destroy()
  }
})

test('the server of deploy.md runs in the workers of node:cluster', async t => {
  const shop = await makeShop(t)
  shop.write({
    'cluster.js': `import cluster from 'node:cluster'
      if (!cluster.isPrimary) await import('./server.js')
      else {
        for (const worker of [cluster.fork(), cluster.fork()])
          worker.on('exit', () => process.exit(1))
      }`
  })
  const { port, child } = await shop.start(await freePort(), 'production', 'cluster.js')
  t.is((await ask(port, '/health')).text, 'ok')
  child.kill('SIGTERM')
  await once(child, 'exit')
})
