// npm run test:system: specs that need other programs.
export default {
  files: ['.spec/spec/system/**/*.spec.js'],
  workerThreads: false,
  timeout: '3m'
}
