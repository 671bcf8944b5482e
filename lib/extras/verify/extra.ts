// Checks what is published, and the directories of builds.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const verify: Extra<Pipeline> = {
  name: 'verify',
  standsOn: ['deltas', 'releases', 'telling'],
  commandLine: async () => ({ commands: [(await import('./verify-command.ts')).verify] })
}
