import { LEFT_OUT } from '../.ci/windows-left-out.js'

const files = LEFT_OUT.flatMap(row => row.files ?? [])
const titles = LEFT_OUT.flatMap(row => row.titles ?? [])

// npm run test:windows: the specs compiled by `npm run build:spec`, in node.exe under Wine.
export default {
  files: [
    '.spec/spec/**/*.spec.js',
    '!.spec/spec/{soak,system}/**',
    ...files.map(file => `!.spec/spec/${file}${file.endsWith('**') ? '' : '.spec.js'}`)
  ],
  match: titles.map(title => `!${title}`),
  // Wine makes its own of the variables that it starts with.
  environmentVariables: { TEMP: 'C:\\temporary', TMP: 'C:\\temporary' },
  workerThreads: false,
  concurrency: 4,
  // A busy machine starts a worker in ten seconds.
  timeout: '4m'
}
