// npm test: the specs compiled by `npm run build:spec`.
export default {
  files: ['.spec/spec/**/*.spec.js', '!.spec/spec/{soak,system}/**'],
  workerThreads: false,
  timeout: '2m'
}
