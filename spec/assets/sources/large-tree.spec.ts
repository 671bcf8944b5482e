import test, { type ExecutionContext } from 'ava'
import { makeSite, type Site } from '../../support/site.ts'
import { untilSettled } from '../../support/until.ts'

const FOLDERS = 100

function filesIn(count: number): Record<string, string> {
  const names = Array.from({ length: count }, (_, at) => `images/${at % FOLDERS}/file-${at}.txt`)
  return { ...Object.fromEntries(names.map(name => [name, name])), 'css/a.css': 'a{}' }
}

/** Milliseconds of work, the kernel's included, so that what else this machine does counts nothing. */
async function timeOf(site: Site, path: string): Promise<number> {
  const before = process.cpuUsage()
  const { status } = await site.ask(path)
  if (status !== 200) throw new Error(`${path} is ${status}`)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

async function measure(t: ExecutionContext, count: number) {
  const site = await makeSite(t, filesIn(count))
  const first = await timeOf(site, '/assets/a.css')
  await untilSettled()
  const later: number[] = []
  for (let asked = 0; asked < 101; asked++) later.push(await timeOf(site, '/assets/a.css'))
  site.write('css/late.css', 'late{}')
  const added = await timeOf(site, '/assets/late.css')
  return { first, later: later.toSorted((a, b) => a - b)[50] ?? Infinity, added }
}

test('of 20,000 sources the first request takes under half a second more, later ones none', async t => {
  await measure(t, 20)
  const few = await measure(t, 20)
  const many = await measure(t, 20_000)
  const shown = JSON.stringify({ few, many })
  t.log(shown)
  t.true(many.first < few.first + 500, shown)
  t.true(many.later < few.later * 3 + 2, shown)
  t.true(many.added < few.added + 500, shown)
})
