// Specs that need programs of the system: npm run test:system.
export default {
  files: ['.spec/spec/system/**/*.spec.js'],
  workerThreads: false,
  timeout: '3m'
}
