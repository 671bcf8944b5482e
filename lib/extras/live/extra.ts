// Keeps open pages current while their sources are edited: the live channel.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { encodePath } from '../../runtime/urls/spelling.ts'
import { helpersOf } from './tag.ts'

export const live: Extra<Pipeline> = {
  name: 'live',
  standsOn: ['media', 'vite'],
  run: ({ base, prefix }) => ({
    helpers: helpersOf([`${base}${encodePath(prefix)}/-/live.js`]),
    responded: async ctx => (await import('./page-digest.ts')).addDigest(ctx)
  }),
  pages: async pipeline => (await import('./channel.ts')).livePages(pipeline)
}
