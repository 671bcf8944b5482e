// Loaded by each process of AVA for `npm run check`: writes which parts of lib have run, for .ci/report-coverage.js.
// Node's own NODE_V8_COVERAGE writes two megabytes for each process and child, nearly all of it about packages.
import { mkdirSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const directory = resolve('coverage/tmp')
const lib = `${pathToFileURL('.spec/lib').href}/`

const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true })
mkdirSync(directory, { recursive: true })

process.once('exit', () =>
  session.post('Profiler.takePreciseCoverage', (error, taken) => {
    if (error) throw new Error(error.message)
    const result = taken.result.filter(({ url }) => url.startsWith(lib))
    const room = taken.result
      .map(({ url }) => /\/rooms\/(.*)\.spec\.js$/.exec(url)?.[1])
      .find(Boolean)
    writeFileSync(join(directory, `${process.pid}.json`), JSON.stringify({ room, result }))
  })
)
