import test from 'ava'
import { versionOf } from '../../lib/http-cache/version-of.ts'

test('versionOf is not for each request: the number of versions is bounded', t => {
  process.env.NODE_ENV = 'development'
  for (let made = 0; made < 1000; made++) versionOf('package.json')
  t.throws(() => versionOf('package.json'), { message: /call it once, where koaHttpCache/ })
})
