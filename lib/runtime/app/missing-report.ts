// Warns of the probable reason for a 404: a name that no source has, or a file that pages name and `public` lacks.
import type { Wanted } from '../serving/request.ts'
import { assetPath } from '../settings/apps.ts'
import type { Names } from '../urls/manifest.ts'
import { encodePath, splitFingerprint } from '../urls/spelling.ts'
import type { Parts } from './addresses.ts'

/** Nobody writes a longer name, in characters; a flood of them would stay in memory. */
const MAX_WRITTEN = 200

type Reporting = Omit<Parts, 'running'> & { readonly warn: (message: string) => void }

/** In development source maps and pages for developers are left out. */
export function missingReport(pipeline: Reporting): (wanted: Wanted) => void {
  /** The names of which a file was reported: where one is missing, mostly all are. */
  let reported: Names | undefined
  const reportUnsent = ({ app, name, path }: Wanted) => {
    const plain = splitFingerprint(name)?.name
    const names = pipeline.namesOf(app)
    if (plain === undefined || !names || names === reported) return
    const asset = names.assets.get(encodePath(assetPath(app, plain)))
    if (asset?.target !== encodePath(path)) return
    reported = names
    pipeline.warn(
      pipeline.settings.serve
        ? `${path} is a 404, though the manifest names it: public lacks this file, or has other bytes under its name. npx koa-fresh-assets verify lists all such files`
        : `${path} is a 404, as serve is off: set SERVE_STATIC_ASSETS=true or serve: true, or let the web server in front send public`
    )
  }
  return wanted => {
    const { env, apps, serve } = pipeline.settings
    const { app, name } = wanted
    if (!app.compile) reportUnsent(wanted)
    const isSought = env === 'development' && serve && app.compile && apps.includes(app)
    if (!isSought || name.length > MAX_WRITTEN || /^-\/|\.map$/.test(name)) return
    pipeline.onRequest?.checkName(app, name, 'a browser asked for')
  }
}
