// AVA's `test`, with eight specs at a time: a process runs all specs of a room, and AVA would start them at once.
import ava, { type ExecutionContext, type TestFn } from 'ava'

export type { ExecutionContext, Implementation } from 'ava'

type Spec = (t: ExecutionContext) => unknown

const MAX_AT_ONCE = 8
let running = 0
const waiting: (() => void)[] = []

async function inTurn(spec: Spec, t: ExecutionContext): Promise<void> {
  if (running >= MAX_AT_ONCE) await new Promise<void>(resolve => waiting.push(resolve))
  else running++
  try {
    await spec(t)
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

const limited = (title: string, spec: Spec) => ava(title, t => inTurn(spec, t))

export const { after, serial } = ava
export const test = Object.assign(limited, {
  serial,
  before: ava.before,
  after
}) as Pick<TestFn, 'serial' | 'before' | 'after'> & typeof limited
