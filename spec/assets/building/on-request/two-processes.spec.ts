// Two development processes on one `public`: one of them is slow, and replaces a target by what it read before an edit.
import fs, { renameSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import ava, { type ExecutionContext } from 'ava'
import { makeSite } from '../../../support/site.ts'

const test = ava.serial

const MOMENTS = ['before it is looked at', 'before it is opened'] as const

/** Acts once, at a moment after the target was renamed, as another process does by chance. */
function atMoment(
  t: ExecutionContext,
  moment: (typeof MOMENTS)[number],
  target: string,
  act: () => void
) {
  const { rename, stat } = fs as Record<'rename' | 'stat', (...args: unknown[]) => void>
  let isRenamed = false
  let isOver = false
  const actOnce = () => {
    if (isOver) return
    isOver = true
    act()
  }
  const put = (calls: { rename: unknown; stat: unknown }) => {
    Object.assign(fs, calls)
    syncBuiltinESMExports()
  }
  t.teardown(() => put({ rename, stat }))
  put({
    rename: (from: string, to: string, done: (error: unknown) => void) => {
      rename(from, to, (error: unknown) => {
        isRenamed ||= to === target
        if (to === target && moment === MOMENTS[0]) actOnce()
        done(error)
      })
    },
    stat: (...args: unknown[]) => {
      const done = args.pop() as (...results: unknown[]) => void
      stat(...args, (...results: unknown[]) => {
        if (isRenamed && args[0] === target) actOnce()
        done(...results)
      })
    }
  })
  return () => isOver
}

for (const moment of MOMENTS) {
  test(`a target that another process replaces ${moment} is published again: no stale answer`, async t => {
    const site = await makeSite(t, { 'app.css': 'a { color: red }' }, { env: 'development' })
    t.is((await site.ask('/assets/app.css')).text, 'a { color: red }')
    const target = site.at('/public/assets/app.css')
    site.write('app.css', 'a { color: tan }')
    const isOver = atMoment(t, moment, target, () => {
      writeFileSync(`${target}.other`, 'a { color: red }')
      renameSync(`${target}.other`, target)
    })
    t.is((await site.ask('/assets/app.css')).text, 'a { color: tan }')
    t.true(isOver())
    t.is((await site.ask('/assets/app.css')).text, 'a { color: tan }')
    t.deepEqual(site.errors, [])
  })
}
