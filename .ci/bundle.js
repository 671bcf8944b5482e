// Builds dist: bundles the output of tsc, types included, into few small files. The maps hold the sources.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { transform } from 'esbuild'
import { rolldown } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'

const TYPED = ['index', 'koa-assets', 'koa-http-cache']
const isPackage = id => !/^[./]/.test(id)

const entries = (names, folder, extension) =>
  Object.fromEntries(names.map(name => [name, `./${folder}/${name}${extension}`]))

async function bundle(input, output) {
  const build = await rolldown({ platform: 'node', external: isPackage, ...input })
  const { output: files } = await build.generate({ dir: 'dist', format: 'es', ...output })
  await build.close()
  return files.filter(({ type }) => type === 'chunk')
}

function write(name, text) {
  const file = join('dist', name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

/** Node prints the line that threw an uncaught error in front of its message: lines are short. */
async function writeInShortLines({ fileName, code }) {
  const short = await transform(code, {
    ...{ minifyWhitespace: true, lineLimit: 160, target: 'node20.19', legalComments: 'none' },
    ...{ sourcemap: 'external', sourcefile: fileName }
  })
  write(fileName, `${short.code}//# sourceMappingURL=${fileName.split('/').at(-1)}.map\n`)
  write(`${fileName}.map`, short.map)
}

rmSync('dist', { recursive: true, force: true })
const program = await bundle(
  { input: entries([...TYPED, 'cli'], 'lib', '.ts') },
  {
    // Koa prints errors with the name of their class.
    minify: { compress: true, mangle: { keepNames: { function: false, class: true } } },
    ...{ comments: false, sourcemap: 'inline', chunkFileNames: 'chunks/[hash].js' }
  }
)
for (const chunk of program) await writeInShortLines(chunk)
const types = await bundle(
  { input: entries(TYPED, '.types', '.d.ts'), plugins: [dts({ dtsInput: true })] },
  { chunkFileNames: 'chunks/[hash].d.ts' }
)
for (const { fileName, code } of types) write(fileName, code)
// Scripts for browsers, which are read from beside the chunk that serves them.
const scripts = await bundle(
  {
    input: './lib/assets/development/client/live.js',
    platform: 'browser',
    transform: { target: 'es2020' }
  },
  { preserveModules: true, minify: true, comments: false }
)
for (const { fileName, code } of scripts) write(`chunks/client/${fileName}`, code)
