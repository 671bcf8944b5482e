import { availableParallelism } from 'node:os'

// npm test: the specs compiled by `npm run build:spec`.
export default {
  files: ['.spec/spec/**/*.spec.js', '!.spec/spec/{soak,system}/**'],
  workerThreads: false,
  // More processes than cores, since most specs wait for sockets and files.
  concurrency: Math.max(4, availableParallelism()),
  timeout: '2m'
}
