// npm run test:system: specs that need other programs.
export default {
  files: ['.spec/spec/system/**/*.spec.js'],
  // Firefox is driven over a WebSocket, which Node 20 has behind a flag.
  nodeArguments: ['--experimental-websocket'],
  workerThreads: false,
  timeout: '3m'
}
