// Warns of doubtful settings when a server starts, and in development of what other middleware does.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { watchNeighbours } from './neighbours.ts'
import { noticesAtStart } from './notices.ts'

export const warnings: Extra<Pipeline> = {
  name: 'warnings',
  run: site => ({
    notices: noticesAtStart(site, site.options),
    watch: site.env === 'development' ? watchNeighbours(site) : undefined
  })
}
