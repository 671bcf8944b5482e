// A server under the programs that restart it: what a page makes it publish restarts nothing, with what `init` writes.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { freePort } from '../../demo/deploy/stack.ts'
import { command } from '../support/command.ts'
import { makeProject, serial as test, until, writeFiles } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'
import { launch } from './chromium.ts'
import { shows, styleOf } from './page.ts'

const binary = (name: string) => resolve('spec/system/node_modules', name)
const NODEMON = binary('nodemon/bin/nodemon.js')
const PM2 = binary('pm2/bin/pm2')
const TSX = resolve('node_modules/tsx/dist/cli.mjs')
const STYLE = 'apps/web/assets/stylesheets/shop.css'

const serverOf = (port: number, log: string) => `
import { appendFileSync } from 'node:fs'
import Koa from '${pathToFileURL(resolve('node_modules/koa/dist/koa.mjs')).href}'
import { koaAssets } from '${pathToFileURL(resolve('dist/index.js')).href}'
const app = new Koa()
app.use(koaAssets({ root: import.meta.dirname, serve: true, env: 'development' }))
app.use(ctx => {
  if (ctx.path !== '/') return
  const { stylesheet, javascript, live } = ctx.assets
  ctx.type = 'html'
  ctx.body = '<!doctype html><link rel="icon" href="data:,">' + live() + stylesheet('shop') +
    javascript('shop', { type: 'module' }) + '<input id="name">'
})
app.listen(${port}, '127.0.0.1', () => appendFileSync('${log}', 'started\\n'))
`

interface Project {
  readonly root: string
  readonly port: number
  readonly log: string
  readonly env: NodeJS.ProcessEnv
}

/** Five modules, compiled and copied, and what `init` adds. */
async function project(t: ExecutionContext, hasInit: boolean): Promise<Project & { said: string }> {
  const port = await freePort()
  const names = ['one', 'two', 'three', 'four']
  const modules = names.map(name => [
    `apps/web/assets/javascripts/${name}.js`,
    `globalThis.${name} = 1`
  ])
  const logs = makeProject(t)
  const root = makeProject(t, {
    ...Object.fromEntries(modules),
    'apps/web/assets/javascripts/shop.js.ts': names.map(name => `import './${name}.js'\n`).join(''),
    [STYLE]: 'body { color: rgb(0, 1, 1) }',
    'package.json': '{ "type": "module", "devDependencies": { "nodemon": "3", "pm2": "7" } }',
    'server.js': serverOf(port, join(logs, 'starts'))
  })
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PM2_HOME: logs }
  const words = [resolve('dist/cli.js'), 'init']
  const said = hasInit ? (await command(process.execPath, words, { cwd: root, env })).stdout : ''
  return { root, port, log: join(logs, 'starts'), env, said }
}

/** What a program has printed so far. */
type Printed = () => string

/** Starts a program, and hands back what it has printed. */
function start(t: ExecutionContext, { root, env }: Project, words: readonly string[]): Printed {
  const child: ChildProcess = spawn(process.execPath, words, { cwd: root, env, detached: true })
  const closed = once(child, 'close')
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (printed += String(chunk)))
  t.teardown(async () => {
    // With the server that it has started.
    if (child.pid && child.exitCode === null) process.kill(-child.pid)
    await closed
  })
  return () => printed
}

/** pm2 keeps a process of its own, and what servers print in its folder. */
async function startWithPm2(t: ExecutionContext, made: Project, config: object): Promise<Printed> {
  const app = { name: 'shop', script: 'server.js', watch: true, ...config }
  writeFiles(made.root, {
    'ecosystem.config.cjs': `module.exports = ${JSON.stringify({ apps: [app] })}`
  })
  const pm2 = (...words: readonly string[]) =>
    command(process.execPath, [PM2, ...words], { cwd: made.root, env: made.env })
  t.teardown(async () => void (await pm2('kill')))
  await pm2('start', 'ecosystem.config.cjs')
  const printed = join(String(made.env['PM2_HOME']), 'logs/shop-error.log')
  return () => (existsSync(printed) ? readFileSync(printed, 'utf8') : '')
}

type Start = (t: ExecutionContext, made: Project & { said: string }) => Printed | Promise<Printed>

const CALM: Readonly<Record<string, Start>> = {
  nodemon: (t, made) => start(t, made, [NODEMON, 'server.js']),
  pm2: (t, made) => {
    const [, list = 'null'] = /ignore_watch: (\[.*\])/.exec(made.said) ?? []
    return startWithPm2(t, made, { ignore_watch: JSON.parse(list) as unknown })
  },
  'node --watch': (t, made) => start(t, made, ['--watch', 'server.js']),
  'tsx watch': (t, made) => start(t, made, [TSX, 'watch', 'server.js'])
}

const starts = ({ log }: Project) => (existsSync(log) ? readFileSync(log, 'utf8').length / 8 : 0)
const isStarted = (made: Project) => until(() => starts(made) > 0, 'the server has started')

for (const [name, begin] of Object.entries(CALM)) {
  test(`after init, ${name} does not restart the server for a page and ten edits`, async t => {
    const made = await project(t, true)
    const printed = await begin(t, made)
    await isStarted(made)
    const page = await launch(t).open(`http://127.0.0.1:${made.port}/`)
    await shows(page, 'globalThis.four', 1)
    await page.evaluate("document.querySelector('#name').value = 'Ada'")
    for (let tone = 1; tone <= 10; tone++) {
      writeFiles(made.root, { [STYLE]: `body { color: rgb(${tone}, 1, 1) }` })
      await shows(page, styleOf('body'), `rgb(${tone}, 1, 1)`)
    }
    t.is(starts(made), 1)
    t.deepEqual(page.complaints, [])
    t.is(await page.evaluate("document.querySelector('#name').value"), 'Ada')
    t.notRegex(printed(), /restarts this server/)
  })
}

const RESTLESS: Readonly<Record<string, readonly [begin: Start, says: RegExp]>> = {
  nodemon: [CALM['nodemon'] as Start, /write "nodemonConfig": .* into package\.json/],
  pm2: [(t, made) => startWithPm2(t, made, {}), /write ignore_watch: .* of ecosystem\.config\.cjs/],
  'node --watch-path': [
    (t, made) => start(t, made, ['--watch-path=.', 'server.js']),
    /start it with node --watch/
  ]
}

for (const [name, [begin, says]] of Object.entries(RESTLESS)) {
  test(`without init, the first server under ${name} says once how to avoid restarts`, async t => {
    const made = await project(t, false)
    const printed = await begin(t, made)
    await until(() => says.test(printed()), 'it says what to write')
    t.is(printed().split('restarts this server').length, 2)
    t.is(starts(made), 1)
  })
}
