// Vite's dev servers. The plugin is an entry point of its own.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'

export const vite: Extra<Pipeline> = {
  name: 'vite',
  entries: async (mount, warn) => (await import('./dev-server.ts')).devServerOf(mount, warn)
}
