// What is published, as Node and TypeScript read it.
import { join } from 'node:path'
import { command, outcomeOf } from '../support/command.ts'
import { makeProject, test } from '../support/index.ts'
import { folderOf } from './installed.ts'

const CHECKS = { publint: ['--strict'], attw: [] }

for (const [name, words] of Object.entries(CHECKS)) {
  test(`the packed package passes ${name}`, async t => {
    const directory = makeProject(t)
    // Built already: without scripts, which would build it again.
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
    const [packed] = JSON.parse((await command('npm', pack)).stdout) as [
      { readonly filename: string }
    ]
    const given = [...words, join(directory, packed.filename)]
    const { code, stdout, stderr } = await outcomeOf(folderOf(`.bin/${name}`), given)
    t.is(code, 0, stdout + stderr)
  })
}
