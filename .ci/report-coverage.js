// npm run check: reports the lines of lib that no spec has run, from the records of .ci/record-coverage.js. V8 counts
// ranges of the compiled files; a line wholly within ranges that no process has run is not covered. Also writes which
// rooms of specs run which files.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'

const AT_LEAST_PERCENT = 95
const RECORDS = 'coverage/tmp'
const LIB = '.spec/lib'

const files = new Map(
  readdirSync(LIB, { recursive: true })
    .filter(name => name.endsWith('.js') && !name.includes('/client/'))
    .map(name => {
      const text = readFileSync(join(LIB, name), 'utf8')
      return [
        pathToFileURL(resolve(LIB, name)).href,
        { name, text, isRun: new Uint8Array(text.length) }
      ]
    })
)

/** The number of functions that the specs of each room run, by file of lib; for `npm run quick`. */
const runBy = {}

for (const record of readdirSync(RECORDS)) {
  const { room, result } = JSON.parse(readFileSync(join(RECORDS, record), 'utf8'))
  // A spec that loads a module once more gives it a query.
  for (const { url, functions } of result) {
    const file = files.get(url.replace(/\?.*/, ''))
    if (!file) continue
    add(file, functions)
    // The first is the module itself, which every import runs.
    const number = functions.slice(1).filter(({ ranges }) => ranges[0].count > 0).length
    const name = `lib/${file.name.replace(/js$/, 'ts')}`
    if (room && number > 0) (runBy[name] ??= {})[room] = number
  }
}
writeFileSync('coverage/rooms.json', JSON.stringify(runBy))

/** Adds the ranges that one process has run; inner ranges come after outer ones. */
function add(file, functions) {
  const inThisProcess = new Uint8Array(file.text.length)
  for (const { startOffset, endOffset, count } of functions.flatMap(({ ranges }) => ranges)) {
    inThisProcess.fill(count > 0 ? 1 : 0, startOffset, endOffset)
  }
  inThisProcess.forEach((isRun, at) => {
    if (isRun) file.isRun[at] = 1
  })
}

/** Returns the number of lines with code, and the numbers, from 0, of those that were not run. */
function linesOf({ text, isRun }) {
  let offset = 0
  let total = 0
  const missed = []
  for (const [number, line] of text.split('\n').entries()) {
    const code = line.trim()
    const start = offset + line.indexOf(code)
    if (code && !/^(?:\/\/|\/?\*)/.test(code)) {
      total++
      if (!isRun.subarray(start, start + code.length).includes(1)) missed.push(number)
    }
    offset += line.length + 1
  }
  return { total, missed }
}

/** Returns the lines of the TypeScript: `7, 12-15`. */
function placesOf(name, missed) {
  const map = new SourceMap(JSON.parse(readFileSync(join(LIB, `${name}.map`), 'utf8')))
  const lines = missed.map(number => (map.findEntry(number, 0).originalLine ?? number) + 1)
  const ranges = []
  for (const line of new Set(lines)) {
    const last = ranges.at(-1)
    if (last && line <= last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(', ')
}

let [total, run] = [0, 0]
for (const file of files.values()) {
  const lines = linesOf(file)
  total += lines.total
  run += lines.total - lines.missed.length
  if (lines.missed.length > 0) {
    console.log(`lib/${file.name.replace(/js$/, 'ts')}: ${placesOf(file.name, lines.missed)}`)
  }
}
const percent = (100 * run) / total
console.log(`\n${percent.toFixed(2)} % of ${total} lines were run; the others are listed above`)
process.exitCode = percent >= AT_LEAST_PERCENT ? 0 : 1
