// Checks what is published, compresses builds, and keeps the files of earlier ones for open pages.
import type { Extra } from '../../runtime/app/extra.ts'

export const releases: Extra = {
  name: 'releases',
  standsOn: ['deltas', 'telling', 'vite'],
  commandLine: async () => {
    const { clean, verify } = await import('./deploy-commands.ts')
    const { compress, keep } = await import('./build-commands.ts')
    return { commands: [compress, keep, verify, clean] }
  }
}
