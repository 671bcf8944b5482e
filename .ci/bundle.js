// Builds dist: bundles the output of tsc, types included, into few small files. The maps hold the sources.
import { rmSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const TYPED = ['index', 'koa-assets', 'koa-http-cache']
const isPackage = id => !/^[./]/.test(id)

const entries = (names, folder, extension) =>
  Object.fromEntries(names.map(name => [name, `./${folder}/${name}${extension}`]))

async function bundle(input, output) {
  const build = await rolldown({ platform: 'node', external: isPackage, ...input })
  await build.write({ dir: 'dist', format: 'es', ...output })
  await build.close()
}

// Node prints the source line of an uncaught error, and Koa the name of its class: lines and names stay.
const readable = { compress: true, mangle: false, codegen: { removeWhitespace: false } }

rmSync('dist', { recursive: true, force: true })
await bundle(
  { input: entries([...TYPED, 'cli'], 'lib', '.ts') },
  { minify: readable, comments: false, sourcemap: true, chunkFileNames: 'chunks/[hash].js' }
)
// Scripts for browsers, which are read from beside the chunk that serves them.
await bundle(
  {
    input: './lib/assets/development/client/live.js',
    platform: 'browser',
    transform: { target: 'es2020' }
  },
  { dir: 'dist/chunks/client', preserveModules: true, minify: true, comments: false }
)
await bundle(
  { input: entries(TYPED, '.types', '.d.ts'), plugins: [dts({ dtsInput: true })] },
  { chunkFileNames: 'chunks/[hash].d.ts' }
)
