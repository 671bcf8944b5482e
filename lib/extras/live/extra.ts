// The live channel: open pages take over what changes.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const live: Extra<Pipeline> = {
  name: 'live',
  pages: async pipeline => (await import('./pages.ts')).livePages(pipeline)
}
