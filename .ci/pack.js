// What is packed: package.json without what runs in this repository alone, README.md without links to what
// is not packed. npm calls it around `npm pack`.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'

const FOR_CONTRIBUTORS = ['scripts', 'devDependencies', 'overrides', 'ava', 'c8', 'prettier']
const PACKED = new Set(['CHANGELOG.md', 'LICENSE'])

const NOT_PACKED = 'Pages named `docs/…` are in the repository, not in this package.\n'

const STRIPPED = {
  'package.json'(text) {
    const entries = Object.entries(JSON.parse(text))
    const kept = entries.filter(([key]) => !FOR_CONTRIBUTORS.includes(key))
    return `${JSON.stringify(Object.fromEntries(kept), undefined, 2)}\n`
  },
  'README.md'(text) {
    return (
      text
        .replaceAll(/^!\[.*\n+/gm, '')
        // What aligns the columns of tables.
        .replaceAll(/ +(?= \|)|(?<=\| -{3})-+/gm, '')
        .replace(/^## /m, `${NOT_PACKED}\n$&`)
        .replaceAll(/\[([^\]]+)\]\(([^)#:\s]+)(?:#[^)]*)?\)/g, (link, label, path) =>
          PACKED.has(path) ? link : label === path ? path : `${label} (${path})`
        )
    )
  }
}

for (const [name, strip] of Object.entries(STRIPPED)) {
  // Elsewhere: npm packs everything that is called README.
  const whole = `.ci/${name}.whole`
  // Also what a pack that was killed has left behind.
  if (existsSync(whole)) renameSync(whole, name)
  if (process.argv[2] === 'strip' && existsSync(name)) {
    copyFileSync(name, whole)
    writeFileSync(name, strip(readFileSync(name, 'utf8')))
  }
}
