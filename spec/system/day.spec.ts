// A day with the docs, from the installation to a production server without development dependencies: the commands of
// docs/tailwind.md and docs/production.md in one project, with packages of npm's registry.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { command } from '../support/command.ts'
import { blocksOf, readPart, urlsIn, type Block } from '../support/examples.ts'
import { ask, makeProject, test, withDigest, writeFiles } from '../support/index.ts'

const blocksIn = (path: string, section: string) =>
  blocksOf(readPart(path).text).filter(block => block.section === section)
const linesOf = (block: Block | undefined) => block?.text.trim().split('\n') ?? []

const [ofTailwind] = blocksIn('docs/tailwind.md', '')
const [ofBuild] = blocksIn('docs/production.md', 'Precompile')
const [environment, ofStart] = blocksIn('docs/production.md', 'Start')

const SERVER = `import Koa from 'koa'
import { koaAssets } from 'koa-fresh-assets'
import options from './assets.config.js'

const app = new Koa()
app.use(koaAssets(options))
app.use(ctx => {
  ctx.body = ctx.assets.stylesheet('app') + ctx.assets.javascript('app', { type: 'module' })
})
const server = app.listen(0, '127.0.0.1', () => console.log('port ' + server.address().port))
`

test('the docs lead from npm install to a production server without development dependencies', async t => {
  const root = makeProject(t)
  const { NODE_ENV: _, ...env } = process.env
  const run = async (line: string) => {
    const { stdout } = await command('bash', ['-c', line], { cwd: root, env })
    return stdout
  }
  const follow = async (lines: readonly string[]) => {
    for (const line of lines) await run(line)
  }
  writeFiles(root, { 'package.json': '{ "private": true, "type": "module" }' })
  const packed = await run(`npm pack --ignore-scripts --silent ${resolve('.')}`)
  await follow([`npm install ./${packed.trim()} koa`, ...linesOf(ofTailwind)])
  writeFiles(root, { 'server.js': SERVER, 'views/home.ejs': '<p class="flex">' })
  await follow(linesOf(ofBuild))
  await follow(['npm ci --omit=dev', ...linesOf(ofBuild).slice(-1)])
  for (const name of ['koa', 'postcss', 'tailwindcss', '@tailwindcss'])
    t.is(existsSync(join(root, 'node_modules', name)), name === 'koa', name)
  writeFiles(root, { '.env.production': environment?.text ?? '' })
  const [program = '', ...words] = linesOf(ofStart)[0]?.split(' ') ?? []
  const server = spawn(program, words, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => server.kill())
  const [said] = (await once(server.stdout, 'data')) as [Buffer]
  const port = Number(/\d+/.exec(String(said)))
  const { text: page } = await ask(port, '/')
  const [style = '', script = ''] = urlsIn(page)
  t.regex(style, withDigest(/^\/assets\/app-DIGEST\.css$/))
  t.true((await ask(port, style)).text.includes('.flex{'))
  t.is((await ask(port, script)).status, 200)
})
