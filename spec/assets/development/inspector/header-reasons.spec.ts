import test from 'ava'
import { digestOf } from '../../../../lib/files/digest.ts'
import { reasonForHeader } from '../../../../lib/assets/development/inspector/header-reasons.ts'

const DIGEST = digestOf('')

for (const [name, value, reason] of [
  ['Cache-Control', 'public, max-age=31536000, immutable', /fingerprint/],
  ['Cache-Control', 'no-cache', /source may be edited/],
  ['Cache-Control', 'public, max-age=0, must-revalidate', /name stays/],
  ['Cache-Control', 'private', /set by an option/],
  ['ETag', `"${DIGEST}"`, /digest of the bytes/],
  ['ETag', `"${DIGEST}-br"`, /digest of the bytes/],
  ['ETag', '"1f4-18c9a3b0-18c9a3b0-7b"', /too large for memory/],
  ['Vary', 'Accept-Encoding', /^there are several representations \(/],
  ['Vary', 'Accept-Encoding, Available-Dictionary', /or a delta/],
  ['X-Robots-Tag', 'noindex', /^set by the option headers$/]
] as const) {
  test(`INS-01 the reason for ${name}: ${value}`, t => {
    t.regex(reasonForHeader(name, value), reason)
  })
}
