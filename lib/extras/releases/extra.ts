// Checks what is published, compresses builds, and keeps the files of earlier ones for open pages.
import type { Extra } from '../../runtime/app/extra.ts'

export const releases: Extra = {
  name: 'releases',
  standsOn: ['deltas', 'telling', 'vite'],
  commandLine: () => import('./build-commands.ts')
}
