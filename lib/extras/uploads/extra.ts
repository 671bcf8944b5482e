// Lists what a script uploads to object storage behind a CDN.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const uploads: Extra<Pipeline> = {
  name: 'uploads',
  standsOn: ['deltas', 'telling'],
  commandLine: async () => ({ commands: [(await import('./upload-plan.ts')).uploadPlan] })
}
