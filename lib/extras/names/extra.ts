// Writes the names of assets as types, and checks those in views.
import type { Extra } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { statIfThere } from '../../runtime/files/at-start.ts'
import { warnOnce } from '../../runtime/errors.ts'
import { typesFile } from './options.ts'

export const names: Extra<Pipeline> = {
  name: 'names',
  standsOn: ['bundles', 'media'],
  start: async pipeline => {
    if (pipeline.settings.options.views) {
      const { unmatchedViews } = await import('./check-views.ts')
      for (const message of await unmatchedViews(pipeline.settings)) warnOnce()(message)
    }
    if (!statIfThere(typesFile(pipeline.settings))) return
    await pipeline.load()
    const { keepNameTypes } = await import('./name-types.ts')
    await keepNameTypes(pipeline)
  },
  commandLine: async () => ({
    commands: [(await import('./types-command.ts')).types],
    additions: [(await import('./views-command.ts')).views]
  }),
  views: {
    load: () => import('./mentions.ts'),
    mentions: async project => (await import('./mentions.ts')).mentionsIn(project),
    check: async project =>
      project.options.views ? (await import('./views-command.ts')).checkOption(project) : undefined
  }
}
