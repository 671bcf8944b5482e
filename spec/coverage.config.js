// npm run check: the specs, and which lines of lib they run.
import { rmSync } from 'node:fs'
import config from './ava.config.js'

rmSync('coverage', { recursive: true, force: true })

export default {
  ...config,
  files: ['.spec/rooms/*.spec.js'],
  nodeArguments: [
    ...config.nodeArguments,
    `--import=${new URL('../.ci/record-coverage.js', import.meta.url).href}`
  ]
}
