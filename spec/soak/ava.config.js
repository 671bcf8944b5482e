// npm run lane soak: specs that take long, and all cases of those that `npm test` runs with a few.
import { readdirSync, readFileSync } from 'node:fs'

const { SOAK = '1' } = process.env

// Those that take `cases` or `soakTest`, by way of spec/security/places.ts as well.
const GRADED = /\/(?:soak|places)\.ts'$/m
const graded = readdirSync('spec', { recursive: true })
  .map(name => name.replaceAll('\\', '/'))
  .filter(name => name.endsWith('.spec.ts') && !/^(?:soak|system)\//.test(name))
  .filter(name => GRADED.test(readFileSync(`spec/${name}`, 'utf8')))

export default {
  files: [
    '.spec/spec/soak/**/*.spec.js',
    ...graded.map(name => `.spec/spec/${name.replace(/ts$/, 'js')}`)
  ],
  environmentVariables: { SOAK },
  workerThreads: false,
  concurrency: 3,
  // For what hangs: a copy of the tree passes its specs in one of them.
  timeout: '20m'
}
