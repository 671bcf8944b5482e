// Lists what a script uploads to object storage behind a CDN.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const uploads: Extra<Pipeline> = {
  name: 'uploads',
  standsOn: ['deltas', 'telling'],
  commandLine: async () => ({
    commands: [(await import('./upload-plan-command.ts')).uploadPlan]
  })
}
