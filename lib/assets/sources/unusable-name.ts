// Says why a source can never be published under its name, and what to rename.
import { AssetError, printable } from '../../errors.ts'
import { pathFrom } from '../../files/paths.ts'
import { assetPath } from '../settings/app-settings.ts'
import type { AppSettings, Settings } from '../settings/settings.ts'
import type { Unpublished } from './catalog.ts'

export interface Unusable {
  /** The plain URL path, decoded. */
  readonly path: string
  readonly error: AssetError
}

export function unusableName(
  { root }: Settings,
  app: AppSettings,
  { source, app: other, below }: Unpublished
): Unusable {
  const shown = (file: string) => printable(pathFrom(root, file))
  const path = assetPath(app, source.name)
  const isIn = other && path.startsWith(`${other.urlPrefix}/`)
  const taken = other && `the assets of the app '${other.name}' (${shown(other.dir)})`
  const where = isIn
    ? `where ${taken} are: rename or exclude it, or set apps.${other.name}.path`
    : `a folder in the URL of ${taken ?? shown(below?.file ?? '')}: rename one of them`
  const message = `${shown(source.file)} cannot be published as ${printable(path)}, ${where}`
  return { path, error: new AssetError('name-unusable', message) }
}
