// Connects pages with Vite's dev servers. The plugin is an entry point of its own.
import type { Extra, Running } from '../../runtime/app/parts.ts'
import type { Pipeline } from '../../runtime/app/pipeline.ts'
import { isBelow } from '../../runtime/serving/request-path.ts'
import type { Settings } from '../../runtime/settings/settings.ts'

export const vite: Extra<Pipeline> = {
  name: 'vite',
  run: respondersIn
}

/** Hands requests to the dev servers in this process. */
function respondersIn({ base, mounts }: Settings): Running | undefined {
  const servers = mounts.flatMap(({ dev, urlPath }) =>
    typeof dev === 'object' ? { dev, urlPath } : []
  )
  if (servers.length === 0) return undefined
  return {
    responderAt(path) {
      const { dev } = servers.find(({ urlPath }) => isBelow(path, urlPath)) ?? {}
      return dev && (async ctx => (await import('./respond.ts')).respond(ctx, dev, base))
    }
  }
}
