// npm run lane <name> [-- words]: runs specs that take longer than npm test, or need root, other programs or other
// versions of Node. Without a name it lists the lanes.
import { spawnSync } from 'node:child_process'
import { delimiter, resolve } from 'node:path'

const ava = folder => `ava --config spec/${folder}.config.js`
const BUILT = ['npm run --silent build', 'npm run --silent build:spec']

/** The purpose of each, and the commands that it runs, one after the other; words on its line go to the last. */
const LANES = {
  soak: {
    about:
      'specs that take long, and all cases of those that npm test runs with a few (SOAK=0.1: a tenth)',
    runs: [...BUILT, ava('soak/ava')]
  },
  deploys: {
    about: 'ten deploys with kills behind Varnish and nginx, on a busy machine',
    runs: [...BUILT, ava('soak/deploys')]
  },
  system: {
    about:
      'real servers, browsers, disks, bundlers and packages, as root; names the Debian packages that it lacks',
    runs: ['npm run --silent build', 'node .ci/install.js spec/system', BUILT[1], ava('system/ava')]
  },
  refused: {
    about:
      'systems that refuse calls, stamp coarsely or ignore case (-- link: one row); needs gcc, libc6-dev, ntfs-3g',
    runs: [...BUILT, 'node .ci/refused.js']
  },
  windows: {
    about:
      "the specs in Windows' node.exe under Wine (-- 22: on that Node; -- 20 'publishing/cli/**': a room); needs wine64",
    runs: [...BUILT, 'node .ci/windows.js']
  },
  user: {
    about:
      'npm test as an ordinary user: root becomes nobody, in a copy of the tree (-- all: npm run test:all)',
    runs: ['node .ci/ordinary-user.js']
  },
  matrix: {
    about: 'npm test on Node 20, 22, 24 and 26, each from the npm registry (-- 22: on that one)',
    runs: ['node .ci/matrix.js']
  },
  without: {
    about: 'lib without each extra, and the core without all of them (-- vite: without that one)',
    runs: ['node .ci/without.js']
  }
}

function run(line, words = []) {
  const [name, ...given] = [...line.split(' '), ...words]
  const PATH = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  // This needs a shell, as npm and ava are scripts on Windows.
  const quoted = given.map(word => `"${word}"`)
  const options = { stdio: 'inherit', shell: true, env: { ...process.env, PATH } }
  return spawnSync([name, ...quoted].join(' '), options).status === 0
}

const [name, ...words] = process.argv.slice(2)
const lane = Object.hasOwn(LANES, name ?? '') ? LANES[name] : undefined
if (lane) {
  const isPassed = lane.runs.every((line, at) =>
    run(line, at === lane.runs.length - 1 ? words : [])
  )
  process.exitCode = isPassed ? 0 : 1
} else {
  if (name !== undefined) console.error(`there is no lane ${name}`)
  for (const [each, { about }] of Object.entries(LANES))
    console.log(`npm run lane ${each.padEnd(8)} ${about}`)
  process.exitCode = name === undefined ? 0 : 2
}
