// One precompile in a process of its own, which reports its CPU time and memory.
import { precompile } from '../../lib/koa-assets.ts'

export interface Run {
  /** CPU time of this process on all cores. */
  readonly cpuSeconds: number
  readonly rssMiB: number
  readonly assets: number
}

async function main(root: string): Promise<void> {
  const { assets } = await precompile({ root, minify: false })
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6
  console.log(JSON.stringify({ assets, rssMiB: maxRSS / 1024, cpuSeconds } satisfies Run))
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
