import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, utimesSync } from 'node:fs'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Answer } from '../../support/ask.ts'
import { makeProject, makeSite, writeFiles, type Files } from '../../support/site.ts'
import { LOADER, moduleFile } from '../../support/typescript.ts'

const NOBODY = 65534
const isRoot = process.getuid?.() === 0

interface Told {
  readonly answers: readonly Answer[]
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
}

/** The responses of an ordinary user's process to each path, in order. */
async function askAsUser(root: string, steps: readonly string[]) {
  const child = fork(moduleFile('spec/support/ordinary-user.ts'), [root, ...steps], {
    execArgv: [...LOADER],
    ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    env: { ...process.env, TSX_DISABLE_CACHE: '1', NODE_V8_COVERAGE: undefined }
  })
  const [told] = (await once(child, 'message')) as [Told]
  await once(child, 'exit')
  return told
}

function makeUserProject(t: ExecutionContext, files: Files) {
  const root = makeProject(t, files)
  mkdirSync(join(root, 'public'), { recursive: true })
  if (isRoot) for (const path of ['.', 'public']) chownSync(join(root, path), NOBODY, NOBODY)
  return root
}

const RIGHTS = 'allow this process to read the sources and to write to public'
const page = (reason: string) => `This asset cannot be published\n\n${reason}\n`

test('a source that cannot be read is a 500 that names it, and the others are still served', async t => {
  const files = { 'apps/web/assets/css/a.css': 'a{}', 'apps/web/assets/css/b.css': 'b{}' }
  const root = makeUserProject(t, files)
  const source = join(root, 'apps/web/assets/css/a.css')
  if (isRoot) chownSync(source, NOBODY, NOBODY)
  chmodSync(source, 0o000)
  const { answers } = await askAsUser(root, [
    '/assets/a.css',
    '/assets/b.css',
    'chmod 644 apps/web/assets/css/a.css',
    '/assets/a.css'
  ])
  t.deepEqual(
    answers.map(({ status, text }) => [status, text]),
    [
      [
        500,
        page(
          `cannot publish /assets/a.css: open apps/web/assets/css/a.css failed with EACCES; ${RIGHTS}`
        )
      ],
      [200, 'b{}'],
      [200, 'a{}']
    ]
  )
})

test('a folder of sources that cannot be read is a 500 that names it', async t => {
  const root = makeUserProject(t, { 'apps/web/assets/css/a.css': 'a{}' })
  const folder = join(root, 'apps/web/assets/css')
  if (isRoot) chownSync(folder, NOBODY, NOBODY)
  const { answers } = await askAsUser(root, [
    '/assets/a.css',
    'chmod 000 apps/web/assets/css',
    '/assets/a.css',
    'chmod 755 apps/web/assets/css',
    '/assets/a.css'
  ])
  t.deepEqual(
    answers.map(({ status }) => status),
    [200, 500, 200]
  )
  t.is(
    answers[1]?.text,
    page(
      `cannot publish /assets/a.css: stat apps/web/assets/css/a.css failed with EACCES; ${RIGHTS}`
    )
  )
})

test('S73 what the process may not read in a mount or public is a 404, with one warning for each', async t => {
  const root = makeUserProject(t, {
    'build/lost+found/a.txt': 'a',
    'build/secret.txt': 'secret',
    'build/open.txt': 'open',
    'build/open.txt.gz': 'closed',
    'public/lost+found/a.txt': 'a',
    'public/secret.txt': 'secret'
  })
  for (const path of ['lost+found', 'secret.txt']) {
    for (const top of ['build', 'public']) {
      if (isRoot) chownSync(join(root, top, path), NOBODY, NOBODY)
      chmodSync(join(root, top, path), 0o000)
    }
  }
  chmodSync(join(root, 'build/open.txt.gz'), 0o000)
  const missing = ['lost+found/a.txt', 'lost+found/b.txt', 'lost+found/c/d.txt', 'secret.txt']
  const { answers, errors, warnings } = await askAsUser(root, [
    ...missing.flatMap(path => [`/static/${path}`, `/${path}`, `/static/${path}`]),
    '/static/open.txt',
    'chmod 644 build/secret.txt',
    '/static/secret.txt'
  ])
  t.deepEqual(
    answers.map(({ status }) => status),
    [...Array.from({ length: 12 }, () => 404), 200, 200]
  )
  t.deepEqual(errors, [])
  const denied = ['build/lost+found', 'public/lost+found', 'build/secret.txt', 'public/secret.txt']
  t.deepEqual(
    warnings,
    [...denied, 'build/open.txt.gz'].map(
      path =>
        `koa-fresh-assets: ${join(root, path)} is not served, because this process may not read it: correct its permissions, or move it`
    )
  )
})

test('a public that cannot be written is a 500 that names it, and nothing is lost', async t => {
  const root = makeUserProject(t, {
    'apps/web/assets/css/a.css': 'a{}',
    'public/assets/a.css': 'old',
    'public/assets/put.txt': 'put'
  })
  chmodSync(join(root, 'public/assets'), 0o555)
  const { answers } = await askAsUser(root, ['/assets/a.css', '/assets/put.txt'])
  t.is(answers[0]?.status, 500)
  t.regex(
    answers[0]?.text ?? '',
    /^This asset cannot be published\n\ncannot publish \/assets\/a\.css: \w+ public\/assets\/\S+ failed with EACCES; allow this process to read the sources and to write to public\n$/
  )
  t.deepEqual([answers[1]?.status, answers[1]?.text], [200, 'put'])
  t.deepEqual(readdirSync(join(root, 'public/assets')).toSorted(), ['a.css', 'put.txt'])
})

test('a target that another user owns is replaced where its folder may be written', async t => {
  const root = makeUserProject(t, {
    'apps/web/assets/css/a.css': 'a{}',
    'public/assets/a.css': 'a{}'
  })
  utimesSync(join(root, 'public/assets/a.css'), 1_700_000_000, 1_700_000_000)
  if (isRoot) chownSync(join(root, 'public/assets'), NOBODY, NOBODY)
  const { answers } = await askAsUser(root, ['/assets/a.css'])
  t.deepEqual([answers[0]?.status, answers[0]?.text], [200, 'a{}'])
})

test('a public that becomes a file is a 500 with the reason', async t => {
  const site = await makeSite(t, { 'css/a.css': 'a{}' })
  writeFiles(site.root, { public: 'a file' })
  const { status, text } = await site.ask('/assets/a.css')
  t.is(status, 500)
  t.regex(
    text,
    /^This asset cannot be published\n\ncannot publish \/assets\/a\.css: mkdir public\/assets failed with E\w+; a file exists where a directory is needed\n$/
  )
  t.is(site.read('/public'), 'a file')
  rmSync(join(site.root, 'public'))
  t.is((await site.ask('/assets/a.css')).text, 'a{}')
})

test('a directory where the target belongs is a 500 that names it', async t => {
  const site = await makeSite(t, { 'css/a.css': 'a{}', '/public/assets/a.css/keep.txt': 'keep' })
  const { status, text } = await site.ask('/assets/a.css')
  t.is(status, 500)
  t.is(
    text,
    page(
      'cannot publish /assets/a.css: rename public/assets/a.css failed with EISDIR; a directory exists where the file belongs'
    )
  )
  t.is(site.read('/public/assets/a.css/keep.txt'), 'keep')
  t.deepEqual(readdirSync(site.at('/public/assets')), ['a.css'])
})

test('a directory with the name of a source is not found, but its files are', async t => {
  const site = await makeSite(t, { 'css/a.css/b.css': 'b{}', 'css/c.css.scss/d.css': 'd{}' })
  for (const path of ['/assets/a.css', '/assets/c.css', '/assets/c.css.scss']) {
    t.is((await site.ask(path)).status, 404)
  }
  t.is((await site.ask('/assets/a.css/b.css')).text, 'b{}')
  t.deepEqual(site.errors, [])
})
