// Disks that are really full, or really read-only: mounted in a namespace that ends with its shell.
// What needs no mount is in spec/assets/building/failures.spec.ts.
import test, { type ExecutionContext } from 'ava'
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { placed, run } from '../support/fingerprinted.ts'
import { bundle } from '../support/precompile-in-child.ts'
import { makeProject } from '../support/site.ts'
import { program } from '../../demo/deploy/program.ts'

/** Runs a script as the root of a mount namespace; `$precompile`, `$root` and `state` are known to it. */
async function inNamespace(t: ExecutionContext, root: string, script: string): Promise<void> {
  const env = { ...process.env, root, node: process.execPath, program: await bundle(t) }
  const prologue = `
    precompile() { "$node" "$program" "$root"; }
    state() { (cd "$root/public" && find . -type f -exec sha256sum {} + | sort); }
  `
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const args = [...asRoot, '--mount', 'sh', '-euc', prologue + script]
  const { status, stderr } = spawnSync(program('unshare', 'util-linux'), args, { env })
  t.is(status, 0, String(stderr))
}

test('a disk that is full stops a deploy with a clear message, and the old one stays', async t => {
  const root = makeProject(t, {
    ...placed({ 'app.js': 'go()', 'a.bin': 'a' }),
    'film.bin': Buffer.alloc(4_000_000, 'x'),
    'public/.keep': ''
  })
  await inNamespace(
    t,
    root,
    `mount -t tmpfs -o size=1m tmpfs "$root/public"
    precompile
    state > "$root/before"
    mv "$root/film.bin" "$root/apps/web/assets"
    ! precompile 2> "$root/said"
    state > "$root/after"
    echo short > "$root/apps/web/assets/film.bin"
    precompile
    state > "$root/repaired"`
  )
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  t.regex(
    read('said'),
    /^cannot publish \/assets\/film\.bin: \w+ \S+ failed with ENOSPC; the disk is full$/m
  )
  t.regex(read('before'), /assets\.json/)
  t.is(read('after'), read('before'))
  t.regex(read('repaired'), /film-[0-9a-f]{32}\.bin/)
})

test('a read-only target is an error that says so', async t => {
  const root = makeProject(t, placed({ 'app.js': 'go()' }))
  chmodSync(root, 0o755)
  await run({ root })
  await inNamespace(
    t,
    root,
    `mount --bind "$root/public" "$root/public"
    mount -o remount,bind,ro "$root/public"
    ! precompile 2> "$root/said"`
  )
  t.regex(
    readFileSync(join(root, 'said'), 'utf8'),
    /^cannot publish \/assets: open public\/assets\/\S+ failed with EROFS; /
  )
})
