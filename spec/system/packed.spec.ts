// What is published, as Node and TypeScript read it.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from '../support/test.ts'
import { makeProject } from '../support/site.ts'
import { folderOf } from './installed.ts'

const CHECKS = { publint: ['--strict'], attw: [] }

for (const [name, words] of Object.entries(CHECKS)) {
  test(`the packed package passes ${name}`, t => {
    const directory = makeProject(t)
    // Built already: without scripts, which would build it again.
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
    const [packed] = JSON.parse(execFileSync('npm', pack, { encoding: 'utf8' })) as [
      { readonly filename: string }
    ]
    const given = [...words, join(directory, packed.filename)]
    t.notThrows(() => execFileSync(folderOf(`.bin/${name}`), given, { stdio: 'inherit' }))
  })
}
