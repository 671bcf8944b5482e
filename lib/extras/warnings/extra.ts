// Warns of doubtful settings when a server starts, and in development of what other middleware does.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { watchNeighbours } from './neighbours.ts'
import { noticesAtStart } from './notices.ts'

export const warnings: Extra<Pipeline> = {
  name: 'warnings',
  run: project => ({
    notices: noticesAtStart(project, project.options),
    watch: project.env === 'development' ? watchNeighbours() : undefined
  })
}
