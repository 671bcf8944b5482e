// Builds dist from lib: a readable chunk for each room; and from what tsc wrote, the types with their docstrings.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const TYPED = ['index', 'koa-assets', 'koa-http-cache', 'vite']
const isPackage = id => !/^[./]/.test(id)

const entries = (names, folder, extension) =>
  Object.fromEntries(names.map(name => [name, `./${folder}/${name}${extension}`]))

async function bundle(input, output) {
  const build = await rolldown({ platform: 'node', external: isPackage, ...input })
  const { output: files } = await build.generate({ dir: 'dist', format: 'es', ...output })
  await build.close()
  for (const { fileName, code } of files) write(fileName, code)
}

function write(name, text) {
  const file = join('dist', name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** `serving` for lib/assets/serving/…, `http` for lib/http/…, `shared` for the small files beside the entry points. */
function roomOf(id) {
  const [, path] = id.split('/lib/')
  const [, room] = /^(?:assets\/)?([^/]+)\//.exec(path) ?? []
  return room ?? (ENTRIES.has(path) ? undefined : path.startsWith('assets/') ? 'assets' : 'shared')
}

const ENTRIES = new Set([...TYPED, 'cli'].map(name => `${name}.ts`))

rmSync('dist', { recursive: true, force: true })
await bundle(
  { input: entries([...TYPED, 'cli'], 'lib', '.ts'), preserveEntrySignatures: 'allow-extension' },
  {
    chunkFileNames: 'chunks/[name].js',
    comments: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [{ name: roomOf, debugName: 'rooms' }]
    }
  }
)
await bundle(
  { input: entries(TYPED, '.types', '.d.ts'), plugins: [dts({ dtsInput: true })] },
  { chunkFileNames: 'chunks/[name].d.ts' }
)
// Scripts for browsers, which are read from beside the chunk that serves them.
await bundle(
  {
    input: './lib/assets/development/client/live.js',
    platform: 'browser',
    transform: { target: 'es2020' }
  },
  { preserveModules: true, entryFileNames: 'chunks/client/[name].js', comments: false }
)
