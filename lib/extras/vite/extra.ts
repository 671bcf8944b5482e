// Connects pages with Vite's dev servers. The plugin is an entry point of its own.
import type { Extra, Running } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { isBelow } from '../../assets/serving/request-path.ts'
import type { Settings } from '../../assets/settings/settings.ts'

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
