// Sizes of images in the manifest, checked.
import { test } from '../../support/test.ts'
import { verify } from '../../../lib/koa-assets.ts'
import { makeFingerprinted } from '../../support/fingerprinted.ts'
import { IMAGES } from '../../support/images.ts'

test('verify finds nothing wrong with a manifest that has sizes', async t => {
  const { root } = await makeFingerprinted(t, 'precompiled', { 'img/a.png': IMAGES['a.png'] })
  t.deepEqual((await verify({ root })).problems, [])
})
