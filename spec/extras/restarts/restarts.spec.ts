// By what a server tells that a program will restart it for what it publishes, and what it says then.
import { warnOfRestarts } from '../../../lib/extras/restarts/restarts.ts'
import { settleProject } from '../../../lib/runtime/app/extras.ts'
import type { KoaAssetsOptions } from '../../../lib/runtime/settings/options.ts'
import { makeProject, test, type ExecutionContext, type Files } from '../../support/index.ts'

type Started = NonNullable<Parameters<typeof warnOfRestarts>[2]>

interface Case extends Partial<Started> {
  readonly files?: Files
  readonly options?: KoaAssetsOptions
}

async function said(t: ExecutionContext, given: Case): Promise<string> {
  const { files = {}, options, ...started } = given
  const root = makeProject(t, files)
  const warnings: string[] = []
  const settings = settleProject({ root, env: 'development', serve: true, ...options })
  const at = { cwd: root, env: {}, commands: [], ...started }
  await warnOfRestarts(settings, message => void warnings.push(message), at)
  return warnings.join('\n')
}

const WATCHED = { WATCH_REPORT_DEPENDENCIES: '1' }
const PM2 = { pm_id: '0', watch: 'true', restart_time: '0' }
const BY_FILE = { ...PM2, PM2_JSON_PROCESSING: 'true' }

const json = (value: unknown) => JSON.stringify(value)
const nodemon = (...words: readonly string[]) => [
  `node /srv/node_modules/.bin/nodemon ${words.join(' ')}`
]

const SERVER = nodemon('server.js')

const RESTARTED: Readonly<Record<string, readonly [Case, says: RegExp]>> = {
  nodemon: [
    { commands: ['', 'nodemon server.js'] },
    /^nodemon restarts this server for each file that it publishes into public.*: write "nodemonConfig": \{ "ignore": \["public\/","apps\/\*\/assets\/"\] \} into package\.json\. See .*live\.md#/
  ],
  'nodemon in a script of npm': [
    { env: { npm_lifecycle_script: 'nodemon server.js' } },
    /^nodemon restarts/
  ],
  'nodemon that ignores something else': [
    { commands: nodemon('-i test server.js'), files: { 'nodemon.json': json({ ignore: 'docs' }) } },
    /write "ignore": .* into nodemon\.json/
  ],
  'nodemon that watches a pattern': [{ commands: nodemon('--watch "*.*" server.js') }, /nodemon/],
  'nodemon that watches a folder in public': [
    { commands: nodemon('-w src -w ./public/assets server.js') },
    /nodemon/
  ],
  'nodemon with another public': [{ commands: SERVER, options: { public: 'www' } }, /into www/],
  'nodemon.json, which hides package.json': [
    {
      commands: SERVER,
      files: {
        'nodemon.json': '{}',
        'package.json': json({ nodemonConfig: { ignore: ['public/'] } })
      }
    },
    /into nodemon\.json/
  ],
  'pm2 with a file': [
    { env: BY_FILE, files: { 'ecosystem.config.cjs': 'watch: true' } },
    /^pm2 restarts .*write ignore_watch: \["public","apps\/\*\/assets","node_modules"\] into the app's entry of ecosystem\.config\.cjs/
  ],
  'pm2 without a file, once it has restarted': [{ env: { ...PM2, restart_time: '1' } }, /^pm2 /],
  'node --watch-path': [
    { env: WATCHED, commands: ['node --watch-path=. server.js'] },
    /^node --watch-path restarts .*start it with node --watch/
  ],
  'node --watch-path by a script of npm': [
    { env: WATCHED, commands: ['node --watch-path ./public --watch-path src server.js'] },
    /^node --watch-path/
  ]
}

const QUIET: Readonly<Record<string, Case>> = {
  'node alone': { commands: ['-bash', 'node server.js'] },
  'a script whose name begins so': { commands: ['node nodemon-like.js'] },
  'a nodemon that ignores public': { commands: nodemon('--ignore public/ server.js') },
  'a nodemon that watches other folders': { commands: nodemon('-w src --watch=lib server.js') },
  'a nodemon that is configured to watch src': {
    commands: SERVER,
    files: { 'package.json': json({ nodemonConfig: { watch: 'src/**' } }) }
  },
  'what init writes': {
    commands: SERVER,
    files: { 'package.json': json({ nodemonConfig: { ignore: ['public/', 'apps/*/assets/'] } }) }
  },
  'a server that publishes nothing': { commands: SERVER, options: { apps: false } },
  'a pm2 that does not watch': { env: { ...BY_FILE, watch: 'false' } },
  'a pm2 that watches some folders': { env: { ...BY_FILE, watch: undefined } },
  'a pm2 that ignores public': {
    env: BY_FILE,
    files: { 'ecosystem.config.cjs': "ignore_watch: ['public']" }
  },
  'a pm2 without a file that has restarted nothing': { env: PM2 },
  'node --watch': { env: WATCHED, commands: ['node --watch server.js'] },
  'node --watch-path with other folders': {
    env: WATCHED,
    commands: ['node --watch-path=src --watch-path=./lib server.js']
  },
  'tsx watch': { commands: ['node /srv/node_modules/.bin/tsx watch server.ts'] }
}

test('a warning says how to keep nodemon, pm2 or node --watch-path from restarting the server', async t => {
  for (const [name, [given, says]] of Object.entries(RESTARTED))
    t.regex(await said(t, given), says, name)
})

test('there is no warning if no program restarts the server for the files that it publishes', async t => {
  for (const [name, given] of Object.entries(QUIET)) t.is(await said(t, given), '', name)
})
