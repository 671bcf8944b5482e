import test from 'ava'
import type { Progress } from '../../lib/index.ts'
import type { Output } from '../../lib/cli/output.ts'
import { makeProgress } from '../../lib/cli/long-run.ts'

function makeLog(columns?: number) {
  const written: string[] = []
  const note = (text: string) => written.push(`${text}\n`)
  const ignore = () => undefined
  const output: Output = {
    result: ignore,
    warn: ignore,
    error: ignore,
    isJson: false,
    note,
    terminal: columns === undefined ? undefined : { columns, write: text => written.push(text) }
  }
  return { output, written }
}

const at = (stage: Progress['stage'], done: number, total: number): Progress => ({
  stage,
  done,
  total,
  path: `/assets/${done}.css`
})

const CLEAR = '\r\u001B[K'

test('on a terminal a bar fills up, and is cleared at the end', t => {
  const { output, written } = makeLog(80)
  const progress = makeProgress(output, false)
  progress.update(at('compile', 2, 2))
  progress.update(at('write', 2, 2))
  progress.end()
  t.deepEqual(written, [
    `${CLEAR}Building ${'█'.repeat(24)} 2/2  /assets/2.css`,
    `${CLEAR}Writing  ${'█'.repeat(24)} 2/2  /assets/2.css`,
    CLEAR
  ])
})

test('the bar is never wider than the terminal', t => {
  const { output, written } = makeLog(20)
  makeProgress(output, false).update(at('compile', 1, 4))
  t.deepEqual(written, [`${CLEAR}Building ${'█'.repeat(6)}${'░'.repeat(4)}`])
})

test('what is printed meanwhile appears above the bar', t => {
  const { output, written } = makeLog(80)
  const progress = makeProgress(output, false)
  progress.update(at('compile', 1, 1))
  progress.interrupt(() => output.note('look'))
  t.deepEqual(written.slice(1, 3), [CLEAR, 'look\n'])
  t.is(written[3], written[0])
})

test('in a log there is a line for each stage', t => {
  const { output, written } = makeLog()
  const progress = makeProgress(output, false)
  for (const stage of ['compile', 'write'] as const) {
    for (let done = 1; done <= 1000; done++) progress.update(at(stage, done, 1000))
  }
  progress.end()
  t.deepEqual(written, ['Building 1,000 assets\n', 'Writing 1,000 assets\n'])
})
