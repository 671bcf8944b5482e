// npm run lane deploys: it takes the processors from whatever runs beside it, so it is in no other lane in full.
export default {
  files: ['.spec/spec/system/kills.spec.js'],
  environmentVariables: { SOAK: '1' },
  workerThreads: false,
  timeout: '10m'
}
