// One precompile, in a process of its own, so that what it costs can be told.
import { precompile } from '../lib/assets/building/precompile.ts'

export interface Run {
  /** Of this process, on all cores. */
  readonly cpuSeconds: number
  readonly rssMiB: number
  readonly assets: number
}

async function main(root: string): Promise<void> {
  const { assets } = await precompile({ root })
  const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage()
  const cpuSeconds = (userCPUTime + systemCPUTime) / 1e6
  console.log(JSON.stringify({ assets, rssMiB: maxRSS / 1024, cpuSeconds } satisfies Run))
}

main(process.argv[2] ?? '').catch((error: unknown) => {
  console.error(error)
  process.exitCode = 1
})
