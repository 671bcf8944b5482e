// npm run test:soak: specs that take long, and all cases of those that `npm test` runs with a few.
const GRADED = [
  'assets/building/failures',
  'assets/building/killed',
  'assets/building/rolling',
  'assets/building/on-request/edits',
  'assets/building/on-request/kept-index',
  'assets/references/references',
  'assets/serving/every-way',
  'assets/serving/files/served-files',
  'assets/sources/naming',
  'assets/sources/tree',
  'assets/views/view-helpers',
  'bundlers',
  'docs/*',
  'files/writing/atomic-write',
  'ground',
  'readme',
  'security/*'
]

export default {
  files: ['.spec/spec/soak/**/*.spec.js', ...GRADED.map(name => `.spec/spec/${name}.spec.js`)],
  environmentVariables: { SOAK: 'true' },
  workerThreads: false,
  concurrency: 2,
  timeout: '10m'
}
