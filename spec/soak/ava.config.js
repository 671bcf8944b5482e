// npm run test:soak: specs that take long, and all cases of those that `npm test` runs with a few.
const GRADED = [
  'assets/building/killed',
  'assets/building/rolling',
  'assets/building/on-request/edits',
  'assets/rendering/references.properties',
  'assets/serving/differential',
  'assets/sources/large-tree',
  'assets/sources/names',
  'assets/views/view-helpers.properties',
  'files/writing/atomic-write',
  'nearest',
  'security/bounds',
  'security/downloads',
  'security/late',
  'security/manifest',
  'security/spellings',
  'security/swapped',
  'security/swapped-public'
]

export default {
  files: ['.spec/spec/soak/**/*.spec.js', ...GRADED.map(name => `.spec/spec/${name}.spec.js`)],
  environmentVariables: { SOAK: 'true' },
  workerThreads: false,
  concurrency: 2,
  timeout: '10m'
}
