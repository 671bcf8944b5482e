// The packed package, as TypeScript reads it.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import test from 'ava'
import { makeProject } from '../support/site.ts'
import { folderOf } from './installed.ts'

test('each entry point has its types in every mode of resolution', t => {
  const directory = makeProject(t)
  const words = ['pack', '--json', '--ignore-scripts', '--pack-destination', directory]
  const [packed] = JSON.parse(execFileSync('npm', words, { encoding: 'utf8' })) as [
    { readonly filename: string }
  ]
  const attw = folderOf('.bin/attw')
  t.notThrows(() => execFileSync(attw, [join(directory, packed.filename)], { stdio: 'inherit' }))
})
