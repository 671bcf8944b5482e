// The specs of `npm test`, as `npm run build:spec` has compiled them.
export default {
  files: ['.spec/spec/**/*.spec.js', '!.spec/spec/{soak,system}/**'],
  workerThreads: false,
  timeout: '2m'
}
