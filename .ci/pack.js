// What is packed: package.json without what runs in this repository alone. npm calls it around `npm pack`.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

const WHOLE = 'package.json.whole'
const FOR_CONTRIBUTORS = ['scripts', 'devDependencies', 'overrides', 'ava', 'c8', 'prettier']

// Also what a pack that was killed has left behind.
if (existsSync(WHOLE)) renameSync(WHOLE, 'package.json')
if (process.argv[2] === 'strip') {
  const whole = readFileSync('package.json', 'utf8')
  const entries = Object.entries(JSON.parse(whole)).filter(
    ([key]) => !FOR_CONTRIBUTORS.includes(key)
  )
  copyFileSync('package.json', WHOLE)
  writeFileSync('package.json', `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`)
}
