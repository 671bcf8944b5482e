// A release may make shorter or longer digests. What earlier builds published under theirs stays as it was.
import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { clean, verify } from '../../../lib/koa-assets.ts'
import { DIGEST_LENGTHS, digestOf, isSameDigest } from '../../../lib/files/digest.ts'
import { placed, run } from '../../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../../support/site.ts'

const IMMUTABLE = 'public, max-age=31536000, immutable'
const OLD = 'old { color: red }'
const SHA256 = createHash('sha256').update(OLD).digest('hex')

for (const length of DIGEST_LENGTHS) {
  test(`FPR-02 what a build published under names with ${length} digits is verified, immutable after the next build, and removed by clean`, async t => {
    const [name, damaged] = [SHA256, 'f'.repeat(64)].map(hex => `app-${hex.slice(0, length)}.css`)
    const target = `/assets/${name}`
    const entry = { target, source: 'css/app.css', integrity: [], size: OLD.length }
    const root = makeProject(t, {
      'public/assets.json': JSON.stringify({ version: 1, assets: { '/assets/app.css': entry } }),
      'public/assets/app.css': OLD,
      [`public/assets/${name}`]: OLD
    })
    t.deepEqual((await verify({ root })).problems, [])
    writeFiles(root, placed({ 'css/app.css': 'new {}' }))
    t.is((await run({ root })).kept, 1)
    writeFiles(root, { [`public/assets/${damaged}`]: OLD })
    const site = await makeSite(t, {}, { root, env: 'production' })
    const sent = await site.ask(target)
    t.deepEqual([sent.status, sent.text, sent.headers['cache-control']], [200, OLD, IMMUTABLE])
    t.is((await site.ask(`/assets/${damaged}`)).status, 404)
    t.deepEqual((await clean({ root }, { keep: 0, age: 0 })).removed, [target])
    const left = readdirSync(join(root, 'public/assets'))
    t.true(left.includes(damaged ?? ''), 'not made by precompile')
  })
}

test('FPR-02 digests of two lengths are the same when one begins with the other', t => {
  const digest = digestOf(OLD)
  for (const other of [SHA256, digest]) t.true(isSameDigest(digest, other))
  t.true(isSameDigest(SHA256, digest))
  for (const other of [digest.slice(1), digest.slice(0, 8), '', undefined, digestOf('new {}')]) {
    t.false(isSameDigest(digest, other), other)
  }
})
