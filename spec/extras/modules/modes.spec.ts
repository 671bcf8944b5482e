// Development and production agree on modules and packages, however these are joined.
import { test } from '../../support/test.ts'
import { placed } from '../../support/fingerprinted.ts'
import { makeProject } from '../../support/site.ts'
import { modulePkg } from './package-files.ts'
import { outcomeOf } from './page.ts'

const KIT = { packages: ['kit'] }
const APP = { 'javascripts/app.js': "export { told } from 'kit'" }

/** A package that cannot be used, and what is said of it. */
const UNUSABLE: readonly (readonly [code: string, told: string])[] = [
  ["import 'package:x'", "node_modules/kit/index.js imports 'package:x', which is not there"],
  ["import 'virtual:x'", "node_modules/kit/index.js imports 'virtual:x', which is not there"],
  ["import '/gone.js'", "node_modules/kit/index.js imports '/gone.js', which is not there"],
  ["import 'gone'", "node_modules/kit/index.js imports 'gone', which is not installed"]
]

test("what a package imports in vain is an error in all modes, with missing: 'warn' as well", async t => {
  for (const [code, told] of UNUSABLE) {
    const files = placed({ ...modulePkg('kit', `${code}\nexport const told = 1`), ...APP })
    for (const way of ['development', true] as const) {
      const root = makeProject(t, files)
      const { failed } = await outcomeOf(t, root, { ...KIT, missing: 'warn' }, way)
      t.true(failed?.replace(': imports', ' imports').includes(told), `${way}: ${failed}`)
    }
  }
})
