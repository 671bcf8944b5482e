// Lists the files that a script uploads to object storage behind a CDN.
import type { Extra } from '../../runtime/app/extra.ts'

export const uploads: Extra = {
  name: 'uploads',
  standsOn: ['deltas', 'telling'],
  commandLine: async () => ({ commands: [(await import('./upload-plan.ts')).uploadPlan] })
}
