// docs/error-trackers.md: its commands run, against a server that answers as Sentry's does.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basename, resolve } from 'node:path'
import { precompile } from '../../lib/index.ts'
import { command } from '../support/command.ts'
import { blocksLeft, readPage } from '../support/examples.ts'
import { makeProject, open, targetOf, test, type ExecutionContext } from '../support/index.ts'

const [upload] = readPage('docs/error-trackers.md').take('')
const SENTRY = resolve('spec/system/node_modules/.bin/sentry-cli')
const files = {
  'package.json': '{ "type": "module" }',
  'apps/web/assets/app.ts': 'const greet = (name: string): void => console.log(name)\ngreet("Ann")'
}

async function makeTracker(t: ExecutionContext) {
  let isUploaded = false
  const server = createServer(async (request, response) => {
    const { url = '', method } = request
    const body = Buffer.concat(await request.toArray()).toString('latin1')
    response.setHeader('Content-Type', 'application/json')
    const { port } = server.address() as AddressInfo
    const sizes = { chunkSize: 2 ** 23, chunksPerRequest: 64, maxRequestSize: 2 ** 25 }
    const limits = { ...sizes, concurrency: 1 }
    const accept = ['release_files', 'sources', 'artifact_bundles', 'artifact_bundles_v2']
    if (method === 'GET') {
      const known = { ...limits, hashAlgorithm: 'sha1', compression: ['gzip'], accept }
      response.end(JSON.stringify({ url: `http://127.0.0.1:${port}/upload/`, ...known }))
    } else if (url.includes('assemble')) {
      const { chunks } = JSON.parse(body) as { chunks: string[] }
      const missing = { state: 'not_found', missingChunks: chunks }
      response.end(JSON.stringify(isUploaded ? { state: 'ok', missingChunks: [] } : missing))
    } else {
      isUploaded = true
      response.end('{}')
    }
  })
  return `http://127.0.0.1:${await open(t, server)}`
}

test('Sentry’s command matches each fingerprinted file with its hidden source map', async t => {
  const root = makeProject(t, files)
  await precompile({ root })
  t.deepEqual(blocksLeft(), [])
  const [, , ...words] = upload?.text.trim().split(' ') ?? []
  const at = { SENTRY_URL: await makeTracker(t), SENTRY_ORG: 'us', SENTRY_PROJECT: 'shop' }
  const env = { ...process.env, ...at, SENTRY_AUTH_TOKEN: 'token', SENTRY_LOG_LEVEL: 'error' }
  const { stdout } = await command(SENTRY, words, { cwd: root, env, encoding: 'utf8' })
  const target = targetOf(root, '/assets/app.js')
  t.true(stdout.includes(`~${target} (sourcemap at ${basename(target)}.map)`), stdout)
})
