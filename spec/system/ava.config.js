// npm run lane system: specs that need other programs.
export default {
  // The lane's packages are linked into it.
  files: ['.spec/spec/system/**/*.spec.js', '!.spec/spec/system/node_modules/**'],
  // Firefox is driven over a WebSocket, which Node 20 has behind a flag.
  nodeArguments: ['--experimental-websocket'],
  workerThreads: false,
  // For what hangs: on a busy machine a bundler or a browser may be silent for minutes.
  timeout: '15m'
}
