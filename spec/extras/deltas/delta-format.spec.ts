// What the file of a delta holds, and what its name says.
import test from 'ava'
import { isSealedDelta, splitDelta } from '../../../lib/extras/deltas/delta-format.ts'
import { digestOf } from '../../../lib/files/digest.ts'
import { decode, deltaFile, deltaName, sha256 } from '../../support/deltas.ts'
import { deltaSent } from './forged.ts'

const line = 'export const answer = () => 42 // and a little more of it\n'
const OLD = line.repeat(20_000)
const NEW = `${line.repeat(9_000)}export const question = 'six by nine'\n${line.repeat(11_000)}`

const isDelta = (file: Buffer, old = OLD, next = NEW) =>
  isSealedDelta(file, sha256(old), digestOf(next))

test('DLT-02 a delta begins as RFC 9842 has it, and is read by any decoder of Zstandard', t => {
  const file = deltaFile(OLD, NEW)
  const sent = deltaSent(OLD, NEW)
  t.deepEqual(file.subarray(0, -40), sent)
  t.true(sent.length < 400, String(sent.length))
  t.is(sent.toString('hex', 0, 8), '5e2a4d1820000000')
  t.deepEqual(sent.subarray(8, 40), sha256(OLD))
  t.true([NEW, undefined].includes(decode(sent, OLD)))
  t.true([NEW, undefined].includes(decode(file, OLD)), 'the seal is a frame that decoders skip')
})

test('S55 a delta counts as one when its seal fits its bytes, what it starts from and what it leads to', t => {
  const file = deltaFile(OLD, NEW)
  t.true(isDelta(file))
  t.false(isDelta(file, NEW), 'of another dictionary')
  t.false(isDelta(file, OLD, OLD), 'to other bytes')
  for (const [what, bytes] of Object.entries({
    empty: Buffer.alloc(0),
    'without its seal': deltaSent(OLD, NEW),
    'cut at its end': file.subarray(0, -1),
    'cut at its start': file.subarray(1),
    'shorter than a header': file.subarray(0, 20),
    'longer by a byte': Buffer.concat([file, Buffer.from('x')]),
    'its target itself': Buffer.from(NEW)
  })) {
    t.false(isDelta(bytes), what)
  }
  for (const at of [0, 7, 8, 39, 40, 60, file.length - 41, file.length - 33, file.length - 1]) {
    const flipped = Buffer.from(file)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    t.false(isDelta(flipped), `with another bit in byte ${at}`)
  }
})

test('DLT-02 the name of a delta says what it starts from', t => {
  const name = deltaName('app-new.js', OLD)
  t.is(name, `app-new.js.${digestOf(OLD)}.dcz`)
  t.deepEqual(splitDelta(name), { name: 'app-new.js', digest: digestOf(OLD) })
  for (const other of ['app.js', 'app.js.dcz', 'app.js.abc.dcz', `app.js.${digestOf(OLD)}.br`]) {
    t.is(splitDelta(other), undefined, other)
  }
})
