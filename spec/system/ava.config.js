// npm run lane system: specs that need other programs. A file that is named runs alone: -- .spec/spec/system/csp.spec.js
const isNamed = process.argv.some(word => /spec\/system\/.*\.spec\.js$/.test(word))

export default {
  // The lane's packages are linked into it.
  files: isNamed
    ? ['.spec/spec/system/**/*.spec.js', '!.spec/spec/system/node_modules/**']
    : ['.spec/system-rooms/*.spec.js'],
  // Firefox is driven over a WebSocket, which Node 20 has behind a flag.
  nodeArguments: ['--experimental-websocket'],
  // In the commands that specs run as well.
  environmentVariables: {
    NODE_OPTIONS: `--import=${new URL('../../.spec/spec/support/quick-brotli.js', import.meta.url).href}`
  },
  workerThreads: false,
  // Browsers and servers wait for each other: on two processors, five processes leave less of them idle than two.
  concurrency: 5,
  // For what hangs: on a busy machine a bundler or a browser may be silent for minutes.
  timeout: '15m'
}
