import { statfsSync } from 'node:fs'
import { availableParallelism } from 'node:os'

const GIB = 2 ** 30

/** A file system in memory, if there is one with room: most specs write many small files. */
function memory() {
  const directory = '/dev/shm'
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize >= GIB ? { TMPDIR: directory } : {}
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    return {}
  }
}

/** These take longest, mostly waiting: what is started last keeps a core idle. */
const FIRST = ['extras', 'publishing', 'extras-live', 'extras-vite', 'security', 'extras-hot']
const placeOf = path => {
  const at = FIRST.findIndex(name => path.endsWith(`/${name}.spec.js`))
  return at < 0 ? FIRST.length : at
}

// npm test: the processes that .ci/rooms.js writes.
export default {
  files: [process.env.ROOMS ?? '.spec/processes/*.spec.js'],
  sortTestFiles: (one, other) => placeOf(one) - placeOf(other) || one.localeCompare(other),
  environmentVariables: memory(),
  workerThreads: false,
  // Most of these processes live for seconds: optimizing code, and threads that compile or collect garbage, do not pay.
  nodeArguments: [
    ...['--no-opt', '--single-threaded'],
    ...['--min-semi-space-size=64', '--max-semi-space-size=128']
  ],
  // More processes than cores, since most specs wait for sockets and files.
  concurrency: Math.max(4, availableParallelism()),
  // For what hangs: where eight processes take the processors, one spec may be silent for minutes.
  timeout: '15m'
}
