// The files of one precompile of images without its checks, in a process of its own: each is read, digested, and
// written under two names. Reports the same.
import { hash } from 'node:crypto'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, extname, join, relative } from 'node:path'
import { inParallel } from '../../lib/runtime/concurrency.ts'
import type { Run } from './precompile-once.ts'

async function main(root: string): Promise<void> {
  const [from, to] = [join(root, 'apps/web/assets/images'), join(root, 'public/assets')]
  const entries = await readdir(from, { recursive: true, withFileTypes: true })
  const files = entries
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const targetOf = (file: string) => join(to, relative(from, file))
  for (const folder of new Set(files.map(file => dirname(targetOf(file))))) {
    await mkdir(folder, { recursive: true })
  }
  const all = await inParallel(files, 8, async file => {
    const [bytes, target] = [await readFile(file), targetOf(file)]
    const integrity = `sha384-${hash('sha384', bytes, 'base64')}`
    const [digest, extension] = [hash('sha256', bytes).slice(0, 32), extname(file)]
    const name = `${basename(target, extension)}-${digest}${extension}`
    await writeFile(join(dirname(target), name), bytes)
    await writeFile(target, bytes)
    return { target: name, integrity, size: bytes.length }
  })
  await writeFile(`${to}.json`, JSON.stringify(all))
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6
  console.log(
    JSON.stringify({ assets: all.length, rssMiB: maxRSS / 1024, cpuSeconds } satisfies Run)
  )
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
