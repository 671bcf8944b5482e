import { LEFT_OUT } from '../.ci/windows-left-out.js'

// npm run lane windows: rooms that .ci/windows.js writes, in node.exe under Wine.
export default {
  files: [process.env.ROOMS],
  match: LEFT_OUT.flatMap(({ titles = [] }) => titles).map(title => `!${title}`),
  // Wine makes its own of the variables that it starts with.
  environmentVariables: { TEMP: 'C:\\temporary', TMP: 'C:\\temporary' },
  workerThreads: false,
  concurrency: 4,
  // A busy machine starts a worker in ten seconds.
  timeout: '4m'
}
