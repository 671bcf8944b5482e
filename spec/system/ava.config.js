// Specs that need programs of the system: npm run test:system.
export default {
  files: ['spec/system/**/*.spec.ts'],
  extensions: { ts: 'module' },
  nodeArguments: ['--import=tsx'],
  workerThreads: false,
  timeout: '3m'
}
