// A disk that stamps whole seconds, as ext3 does: a real one, mounted from an image.
import type { ExecutionContext } from 'ava'
import { spawnSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { placed, readPublic, run } from '../support/fingerprinted.ts'
import { makeProject, makeSite, writeFiles } from '../support/site.ts'
import { asRoot as test } from '../support/root.ts'
import { program } from '../../demo/deploy/program.ts'

/** An empty directory on such a disk. */
function mountDisk(t: ExecutionContext): string {
  const around = makeProject(t, { 'disk.img': Buffer.alloc(8_000_000) })
  const [image, disk] = [join(around, 'disk.img'), join(around, 'disk')]
  mkdirSync(disk)
  // 128 bytes for an inode leave no room for fractions of a second.
  execute(program('mkfs.ext4', 'e2fsprogs'), ['-q', '-I', '128', image])
  execute(program('mount', 'mount'), ['-o', 'loop', image, disk])
  t.teardown(() => execute(program('umount', 'mount'), ['--lazy', disk]))
  writeFileSync(join(disk, 'file'), '')
  t.is(statSync(join(disk, 'file'), { bigint: true }).ctimeNs % 1_000_000_000n, 0n)
  return disk
}

function execute(command: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(command, args)
  if (status === 0) return
  throw new Error(
    `${command} ${args.join(' ')} failed: ${String(stderr)}This spec mounts a disk: run it as root, where loop devices are`
  )
}

const ROUNDS = 12

for (const [what, file] of Object.entries({
  'a copied source': 'x/app.css',
  'a Sass source': 'x/sass.css.scss',
  'a partial': 'x/_part.scss'
})) {
  test(`PUB-05a edits of ${what} within one second are in the next GET`, async t => {
    const root = mountDisk(t)
    const files = {
      'x/app.css': 'a { order: 10 }',
      'x/sass.css.scss': 'a { order: 10 }',
      'x/with.css.scss': '@use "part";',
      'x/_part.scss': 'a { order: 10 }'
    }
    const site = await makeSite(t, files, { root, env: 'test' })
    const name = { 'x/app.css': 'app', 'x/sass.css.scss': 'sass', 'x/_part.scss': 'with' }[file]
    for (let edit = 10; edit < 10 + ROUNDS; edit++) {
      site.write(file, `a { order: ${edit} }`)
      const { text } = await site.ask(`/assets/${name}.css`)
      t.regex(text, new RegExp(`order: ${edit}`))
    }
    t.deepEqual(site.errors, [])
  })
}

test('PUB-05a edits within one second are in the next precompile, which remembers', async t => {
  const root = mountDisk(t)
  const sources = {
    'x/app.css': 'a { order: 10 }',
    'x/with.css.scss': '@use "../../../../shared/part";',
    '/shared/part.scss': 'a { order: 10 }',
    '/node_modules/.keep': ''
  }
  writeFiles(root, placed(sources))
  await run({ root, env: 'production' })
  for (let edit = 11; edit < 11 + ROUNDS; edit++) {
    const text = `a { order: ${edit} }`
    writeFiles(root, { 'apps/web/assets/x/app.css': text, 'shared/part.scss': text })
    await run({ root, env: 'production' })
    t.regex(readPublic(root, '/assets/app.css').toString(), new RegExp(`order: ${edit}`))
    t.regex(readPublic(root, '/assets/with.css').toString(), new RegExp(`order: ${edit}`))
  }
})

test('PUB-05a a published file that is damaged within its second is written again', async t => {
  const root = mountDisk(t)
  writeFiles(root, placed({ 'x/app.css': 'a { order: 10 }', '/node_modules/.keep': '' }))
  for (let round = 0; round < ROUNDS; round++) {
    await run({ root, env: 'production' })
    t.is(readPublic(root, '/assets/app.css').toString(), 'a { order: 10 }', `round ${round}`)
    writeFileSync(join(root, 'public/assets/app.css'), 'a { order: 99 }')
  }
})

test('PUB-05a a file that comes within the second in which a folder was read is found', async t => {
  const root = mountDisk(t)
  // A partial that was looked for in vain outside the source directories, where nothing is watched.
  const files = {
    'x/app.css.scss': '@use "../../../../shared/colors";',
    '/shared/colors/_index.scss': 'a { order: 0 }'
  }
  const site = await makeSite(t, files, { root, env: 'test' })
  t.regex((await site.ask('/assets/app.css')).text, /order: 0/)
  t.regex((await site.ask('/assets/app.css')).text, /order: 0/)
  writeFiles(root, { 'shared/_colors.scss': 'a { order: 1 }' })
  t.regex((await site.ask('/assets/app.css')).text, /order: 1/)
})

test('PUB-05a edits of a file of public within one second are in the next GET', async t => {
  const root = mountDisk(t)
  const files = { '/public/a.txt': '10' }
  const site = await makeSite(t, files, {
    root,
    env: 'production',
    fingerprint: false,
    revalidate: 0
  })
  for (let edit = 11; edit < 11 + ROUNDS; edit++) {
    site.write('/public/a.txt', `${edit}`)
    t.is((await site.ask('/a.txt')).text, `${edit}`)
  }
})
