// npm run test:soak: specs that take long, and all cases of those that `npm test` runs with a few.
const GRADED = [
  'assets/building/killed',
  'assets/building/rolling',
  'assets/building/on-request/edits',
  'assets/rendering/references',
  'assets/serving/every-way',
  'assets/sources/naming',
  'assets/sources/tree',
  'assets/views/view-helpers',
  'files/writing/atomic-write',
  'ground',
  'security/bounds',
  'security/downloads',
  'security/links',
  'security/paths',
  'security/swapped'
]

export default {
  files: ['.spec/spec/soak/**/*.spec.js', ...GRADED.map(name => `.spec/spec/${name}.spec.js`)],
  environmentVariables: { SOAK: 'true' },
  workerThreads: false,
  concurrency: 2,
  timeout: '10m'
}
