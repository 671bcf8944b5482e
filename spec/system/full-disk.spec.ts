// Disks that are really full, or really read-only: mounted in a namespace that ends with its shell.
// What needs no mount is in spec/publishing/cli/faults.spec.ts, a call of the disk that fails among it.
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { outcomeOf } from '../support/command.ts'
import { bundle } from '../support/precompile-in-child.ts'
import { program } from '../../demo/deploy/program.ts'
import { LOADER, makeProject, moduleFile, placed, run, test, withDigest } from '../support/index.ts'
import type { ExecutionContext } from '../support/index.ts'

/** Runs a script as the root of a mount namespace; `$precompile`, `$root` and `state` are known to it. */
async function inNamespace(t: ExecutionContext, root: string, script: string): Promise<void> {
  const cli = [process.execPath, ...LOADER, moduleFile('lib/cli.ts')].map(word => `'${word}'`)
  const env = { ...process.env, root, node: process.execPath, program: await bundle() }
  const prologue = `
    precompile() { "$node" "$program" "$root"; }
    clean() { ${cli.join(' ')} clean --root "$root" --keep 0 --age 0s; }
    compress() { ${cli.join(' ')} compress --quiet "$root/public"; }
    state() { (cd "$root/public" && find . -type f -exec sha256sum {} + | sort); }
  `
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const args = [...asRoot, '--mount', 'sh', '-euc', prologue + script]
  const { code, stderr } = await outcomeOf(program('unshare', 'util-linux'), args, { env })
  t.is(code, 0, stderr)
}

test('clean frees a full disk for the next deploy', async t => {
  const film = (letter: string) => Buffer.alloc(200_000, letter)
  const root = makeProject(t, {
    ...placed({ 'app.js': 'go()', 'film.bin': film('a') }),
    'next.bin': film('b'),
    'public/.keep': ''
  })
  const script = `mount -t tmpfs -o size=1m tmpfs "$root/public"
    precompile
    cp "$root/next.bin" "$root/apps/web/assets/film.bin"
    precompile
    state > "$root/before"
    ! head -c 4000000 /dev/zero > "$root/public/fill"
    ! echo more > "$root/public/more"
    clean > "$root/said"
    rm "$root/public/fill" "$root/public/more"
    state > "$root/after"
    ls -A "$root/public/assets" > "$root/names"
    cp "$root/next.bin" "$root/apps/web/assets/other.bin"
    precompile`
  await inNamespace(t, root, script)
  const read = (name: string) => readFileSync(join(root, name), 'utf8')
  t.regex(read('said'), withDigest(/\/assets\/film-DIGEST\.bin/))
  const versions = (state: string) => state.match(/film-[0-9a-f]+\.bin$/gm)?.length
  t.deepEqual([versions(read('before')), versions(read('after'))], [2, 1])
  t.notRegex(read('names'), /^\.koa/m)
})

test('a read-only disk stops precompile and compress with a message that says so', async t => {
  const root = makeProject(t, placed({ 'app.js': 'go();'.repeat(60_000) }))
  chmodSync(root, 0o755)
  await run({ root, minify: false })
  const script = `mount --bind "$root/public" "$root/public"
    mount -o remount,bind,ro "$root/public"
    ! precompile 2> "$root/said"
    ! compress 2>> "$root/said"`
  await inNamespace(t, root, script)
  const said = readFileSync(join(root, 'said'), 'utf8')
  const readOnly =
    /^cannot publish \/assets: open public\/assets\/\S+ failed with EROFS; public is on a read-only file system: precompile where it can be written/
  t.regex(said, readOnly)
  t.regex(said, /cannot compress \S+: EROFS: read-only file system/)
})
