// Writes the names of assets as types, and checks names in views.
import type { Extra } from '../../runtime/app/extra.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { statIfThere } from '../../runtime/files/at-start.ts'
import { typesFile } from './options.ts'

export const names: Extra<Pipeline> = {
  name: 'names',
  standsOn: ['media', 'vite'],
  async start(pipeline) {
    if (!statIfThere(typesFile(pipeline.settings))) return
    await pipeline.load()
    await (await import('./name-types.ts')).keepNameTypes(pipeline)
  },
  commandLine: () => import('./commands.ts'),
  views: {
    load: () => import('./views.ts'),
    mentions: async project => (await import('./views.ts')).mentionsIn(project),
    check: async project => (await import('./check.ts')).checkOption(project)
  }
}
