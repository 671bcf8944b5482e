// The code blocks of a page of the documentation, and a project in which they are run as they stand.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { STATUS_CODES } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import type { ExecutionContext } from './test.ts'
import { ask, type Answer, type Question } from './ask.ts'
import { linkModules } from './bundler-project.ts'
import { makeProject, writeFiles, type Files } from './site.ts'

export interface Block {
  readonly language: string
  /** The name in the comment of its first line. */
  readonly file?: string | undefined
  readonly text: string
  /** The heading above it, `''` in front of the first one. */
  readonly section: string
  readonly line: number
}

const HEADING_OR_BLOCK = /^##+ (.*)$|^```(\w*)\n([^]*?)^```$/gm
const FILE = /^(?:\/\/|#|\/\*|<!--) ((?:[\w@.-]+\/)*[\w-]*\.[\w.-]*\w)(?=[,\s])/

export function blocksOf(markdown: string): readonly Block[] {
  let section = ''
  return Array.from(markdown.matchAll(HEADING_OR_BLOCK)).flatMap(match => {
    const [, heading, language = '', text = ''] = match
    if (heading !== undefined) {
      section = heading
      return []
    }
    const line = markdown.slice(0, match.index).split('\n').length
    return [{ language, file: FILE.exec(text)?.[1], text, section, line }]
  })
}

const read: Page[] = []

/** The blocks that no spec has taken, of every page that was read as a whole. */
export const blocksLeft = (): readonly string[] =>
  read.flatMap(({ path, left }) => Array.from(left, ({ line }) => `${path}:${line}`))

/** A page whose blocks are taken by the spec that runs them; those that no spec takes are left. */
export function readPage(path: string) {
  const page = readPart(path)
  read.push(page)
  return page
}

type Page = ReturnType<typeof readPart>

/** A page of which another spec runs all blocks. */
export function readPart(path: string) {
  const text = readFileSync(path, 'utf8')
  const left = new Set(blocksOf(text))
  return {
    path,
    text,
    left,
    /** Takes the blocks of a section. */
    take(section: string, ...languages: readonly string[]): readonly Block[] {
      const isTaken = ({ language }: Block) => !languages.length || languages.includes(language)
      const taken = [...left].filter(block => block.section === section && isTaken(block))
      if (taken.length === 0) throw new Error(`${path} has no such blocks in "${section}"`)
      for (const block of taken) left.delete(block)
      return taken
    }
  }
}

/** What the tags of a page lead to. */
export const urlsIn = (html: string): readonly string[] =>
  Array.from(html.matchAll(/(?:href|src)="([^"]+)"/g), ([, url = '']) => url)

/** A block without its imports, as the body of a function. */
export const asBody = ({ text }: Block): string => text.replaceAll(/^import .*$/gm, '')

/** Runs the body of a function, which finds these names. */
export function evaluate(body: string, names: object): unknown {
  // oxlint-disable-next-line typescript/no-implied-eval -- the page's own words
  return new Function(...Object.keys(names), body)(...Object.values(names))
}

/** Sends a request, and compares the response with the one that follows it; `…` stands for anything. */
async function exchange(port: number, text: string): Promise<void> {
  const [request = '', response = ''] = text.split(/\n\n(?=HTTP\/)/)
  const [head = '', body] = request.split('\n\n')
  const [start = '', ...fields] = head.split('\n')
  const [method = '', path = ''] = start.split(' ')
  const headers = Object.fromEntries(fields.map(field => field.split(': ')))
  const answer = await ask(port, path, { method, headers, ...(body !== undefined && { body }) })
  const [status, ...expected] = response.trim().split('\n')
  const got = expected.map(field => {
    const [name = ''] = field.split(': ')
    const value = String(answer.headers[name.toLowerCase()])
    return field.includes('…') && value !== 'undefined' ? field : `${name}: ${value}`
  })
  const lines = [`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status]}`, ...got]
  if (lines.join('\n') === [status, ...expected].join('\n')) return
  throw new Error(`${start}: expected\n${response}\ngot\n${lines.join('\n')}\n\n${answer.text}`)
}

// Any free port takes the place of the one that an example listens on, and is told on stdout. The end of
// stdin ends the server, so none outlives the spec.
const ANY_PORT = `
  import { Server } from 'node:net'
  const { listen } = Server.prototype
  Server.prototype.listen = function (port, ...rest) {
    if (typeof port !== 'number') return listen.call(this, port, ...rest)
    process.stdin.once('end', () => process.exit()).resume()
    this.once('listening', () => console.log('port ' + this.address().port))
    return listen.call(this, 0, '127.0.0.1', ...rest)
  }`

// npx runs what is installed; npm links what is installed here.
const SHELL = `set -e
  koa-fresh-assets() { node '${resolve('dist/cli.js')}' "$@"; }
  npx() { "$@"; }
  npm() { case "$1" in install) shift; installed "$@";; ci) ;; *) command npm "$@";; esac; }
  installed() {
    for name; do
      case "$name" in -*|koa-fresh-assets) continue;; esac
      [ -e "../node_modules/$name" ] || { echo "npm install $name: no such package here" >&2; return 1; }
      mkdir -p "$(dirname "node_modules/$name")"
      ln -sfn "$(realpath "../node_modules/$name")" "node_modules/$name"
    done
  }`

const SERVER = /^(?:\w+=\S+ )*(?:node|npx tsx) .*\bserver\.[cm]?[jt]s$/

/** A project below a folder in which packages are installed as in this repository, ours as it was built. */
export function makeExample(t: ExecutionContext, files: Files = {}, link = linkModules) {
  checkBuild()
  const folder = makeProject(t)
  link(folder)
  const root = join(folder, 'shop')
  writeFiles(root, { 'package.json': '{ "type": "module" }', 'node_modules/.keep': '', ...files })
  symlinkSync(resolve('.'), join(root, 'node_modules/koa-fresh-assets'), 'dir')
  let server: ChildProcess | undefined
  let port = 0
  let said = ''
  const stop = async () => {
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    server.stdin?.end()
    await once(server, 'close')
  }
  t.teardown(stop)

  /** Runs one line of a shell; one that starts a server until this listens. Resolves to what it wrote. */
  async function run(command: string): Promise<string> {
    const line = command.replace(/(?:^|\s+)#.*$/, '')
    const startsServer = SERVER.test(line)
    if (startsServer) await stop()
    const child = spawn('bash', ['-c', `${SHELL}\n${line}`], {
      cwd: root,
      env: environment(),
      stdio: [startsServer ? 'pipe' : 'ignore', 'pipe', 'pipe']
    })
    if (startsServer) [server, said] = [child, '']
    let [stdout, stderr] = ['', '']
    t.teardown(() => {
      if (!t.passed && startsServer) t.log(stderr)
    })
    return new Promise((resolve, reject) => {
      child.stderr?.on('data', text => (stderr += String(text)))
      child.stdout?.on('data', text => {
        stdout += String(text)
        if (startsServer) said = stdout
        port = Number(/^port (\d+)$/m.exec(stdout)?.[1] ?? port)
        if (startsServer && /^port /m.test(stdout)) resolve(stdout)
      })
      child.once('close', status => {
        if (status === 0) resolve(stdout)
        else reject(new Error(`${line}: ${status}\n${stdout}${stderr}`))
      })
    })
  }

  return {
    root,
    run,
    /** Goes through blocks in order: writes a file that is named, runs lines of a shell, sends a request. */
    async follow(blocks: readonly Block[]): Promise<void> {
      for (const { language, file, text, line } of blocks) {
        if (file !== undefined) writeFiles(root, { [file]: text })
        else if (language === 'sh' || language === 'bash')
          for (const each of linesOf(text)) await run(each)
        else if (language === 'http') await exchange(port, text)
        else throw new Error(`the block of line ${line} neither names a file nor is a command`)
      }
    },
    /** Asks the server that was started last. */
    ask: (path: string, question?: Question): Promise<Answer> => ask(port, path, question),
    /** What the server that was started last has written to stdout. */
    said: (): string => said,
    read: (path: string): string => readFileSync(join(root, path), 'utf8'),
    exists: (path: string): boolean => existsSync(join(root, path)),
    write: (files: Files): void => writeFiles(root, files)
  }
}

const linesOf = (text: string) => text.replaceAll('\\\n', '').split('\n').filter(Boolean)

let isChecked = false

/** @throws Error when dist is older than lib */
export function checkBuild(): void {
  if (isChecked) return
  const built = statSync('dist/index.js', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isOutdated = readdirSync('lib', { recursive: true, encoding: 'utf8' }).some(
    path => path.endsWith('.ts') && statSync(join('lib', path)).mtimeMs > built
  )
  if (isOutdated) throw new Error('dist is older than lib: npm run build')
  isChecked = true
}

/** That of a user, not of who runs the specs. */
function environment(): NodeJS.ProcessEnv {
  const { NODE_ENV: _, SERVE_STATIC_ASSETS: __, CI: ___, DEBUG: ____, ...rest } = process.env
  return {
    ...rest,
    NODE_OPTIONS: `${process.env['NODE_OPTIONS'] ?? ''} --import=data:text/javascript,${encodeURIComponent(ANY_PORT)}`,
    PATH: [resolve('node_modules/.bin'), dirname(process.execPath), process.env['PATH']].join(':')
  }
}
