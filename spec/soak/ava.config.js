// Specs that take long by their nature: npm run test:soak.
export default {
  files: ['.spec/spec/soak/**/*.spec.js'],
  workerThreads: false,
  concurrency: 2,
  timeout: '10m'
}
