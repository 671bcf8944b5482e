// Joins the rooms: what one koaAssets() holds.
import { makePublicFiles, type PublicFile } from './public-files.ts'
import { makePublisher } from './publish.ts'
import type { Wanted } from './request-path.ts'
import type { AppSettings, Settings } from './settings.ts'
import { makeSources } from './sources.ts'
import { makeViewHelpers, plainAddress, type ViewHelpers } from './view-helpers.ts'
import { encodePath } from './asset-url.ts'
import { warnOnce } from './warn-once.ts'

export interface Pipeline {
  /** The current file that answers a request; its source is published first, where that is on. */
  find(wanted: Wanted): Promise<PublicFile | undefined>
  /** What has been published already, however old. */
  findPublished(wanted: Wanted): Promise<PublicFile | undefined>
  /** Whether the path is an asset, published or not; nothing is written. */
  has(wanted: Wanted): Promise<boolean>
  readonly viewHelpers: (app: string) => ViewHelpers
}

export function makePipeline(settings: Settings): Pipeline {
  const warn = warnOnce()
  const sources = makeSources(settings, warn)
  const publisher = makePublisher(settings, sources, warn)
  const publicFiles = makePublicFiles(settings)

  return {
    async find(wanted) {
      const { app, name } = wanted
      const mark = app?.compile ? await publisher.publish(app, name) : undefined
      return publicFiles.find(wanted, mark)
    },
    findPublished: wanted => publicFiles.find(wanted),
    async has(wanted) {
      const { app, name } = wanted
      if (app?.compile && (await sources.find(app, name))) return true
      return publicFiles.has(wanted)
    },
    viewHelpers: makeViewHelpers(settings, {
      resolve: (app, name) => plainAddress(encodePath(appNamed(settings, app).urlPrefix), name),
      modules: () => [],
      version: () => ''
    })
  }
}

function appNamed({ apps }: Settings, name: string): AppSettings {
  const app = apps.find(candidate => candidate.name === name)
  if (!app) throw new TypeError(`there is no app ${name}`)
  return app
}
