// Pages for developers: what is published, from what, and what was asked for.
import type { Extra } from '../../assets/parts.ts'
import type { Pipeline } from '../../assets/pipeline.ts'
import { encodePath } from '../../assets/urls/canonical-path.ts'

export const inspector: Extra<Pipeline> = {
  name: 'inspector',
  hint({ live, base, prefix }) {
    const where = base === '' ? 'on this server' : `behind the proxy that cuts off ${base}`
    return live && `To inspect them, open ${base}${encodePath(prefix)}/-/ ${where}.`
  },
  pages: async pipeline => (await import('./pages.ts')).inspectorPages(pipeline)
}
