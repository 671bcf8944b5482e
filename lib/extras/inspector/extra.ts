// Shows developers which assets are published, from which sources, and the latest requests.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'

export const inspector: Extra<Pipeline> = {
  name: 'inspector',
  standsOn: ['telling'],
  pages: async pipeline => (await import('./pages.ts')).inspectorPages(pipeline)
}
