// A tree of many files costs as many looks at the disk as it has folders, whatever the number of files.
import { createHook } from 'node:async_hooks'
import test, { type ExecutionContext } from 'ava'
import { makeSite, type Site } from '../../support/site.ts'
import { cases } from '../../support/soak.ts'
import { until, untilSettled } from '../../support/until.ts'

const FOLDERS = 20
const MANY = cases(1000, 20_000)

let calls = 0
createHook({
  init(_, type) {
    if (type.startsWith('FSREQ')) calls++
  }
}).enable()

function filesIn(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, at) => `images/${at % FOLDERS}/file-${at}.txt`)
  return { ...Object.fromEntries(names.map(name => [name, name])), 'css/a.css': 'a{}' }
}

async function callsFor(site: Site, path: string): Promise<number> {
  calls = 0
  const { status } = await site.ask(path)
  if (status !== 200) throw new Error(`${path} is ${status}`)
  return calls
}

async function measure(t: ExecutionContext, count: number) {
  const site = await makeSite(t, filesIn(count))
  const first = await callsFor(site, '/assets/a.css')
  await untilSettled()
  await site.ask('/assets/a.css')
  // Once a second a request looks at the folders, behind its response.
  let later = Infinity
  await until(async () => {
    later = await callsFor(site, '/assets/a.css')
    return later < FOLDERS
  }, 'a request without that look')
  site.write('css/late.css', 'late{}')
  const added = await callsFor(site, '/assets/late.css')
  return { first, later, added }
}

test.serial(`${MANY} sources cost no more looks at the disk than ${FOLDERS}`, async t => {
  const few = await measure(t, FOLDERS)
  const many = await measure(t, MANY)
  t.log({ few, many })
  t.true(many.first <= few.first + FOLDERS, `at first ${many.first}, and ${few.first}`)
  t.is(many.later, few.later)
  t.true(many.added <= few.added + FOLDERS, `for a new file ${many.added}, and ${few.added}`)
})
