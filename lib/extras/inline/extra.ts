// Writes SVG files into pages, as elements that stylesheets reach.
import type { Extra, Project } from '../../runtime/app/parts.ts'
import { HELPERS, recording } from './inline.ts'
import { isInlined } from './inlined.ts'
import { WrittenIcons } from './written.ts'

export const inline: Extra = {
  name: 'inline',
  run(project) {
    requireFingerprints(project)
    const isSeen =
      project.env === 'development' && project.apps.some(app => app.inline !== undefined)
    return isSeen ? new WrittenIcons(recording) : { helpers: HELPERS }
  },
  details: {
    isFor: (name, asset) => asset !== undefined && isInlined(name, asset),
    async load(project) {
      if (project?.apps.every(app => app.inline === undefined)) return undefined
      const { readSvg } = await import('./svg.ts')
      return (bytes, file) => ({ svg: readSvg(bytes, file) })
    }
  }
}

/** In production the manifest has the elements, so that no page waits for a disk. */
function requireFingerprints({ env, apps }: Project): void {
  const app = apps.find(each => each.inline !== undefined && !each.fingerprint)
  if (env === 'production' && app)
    throw new TypeError(
      "the option inline needs fingerprints in production: remove 'fingerprint: false'"
    )
}
