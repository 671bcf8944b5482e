// The `types` command.
import { Bundles } from '../../assets/bundles/bundles.ts'
import { writeNameTypes } from '../../assets/inspecting/name-types.ts'
import { settle } from '../../assets/settings/settings.ts'
import { Sources } from '../../assets/sources/sources.ts'
import { OK, type Command } from '../command.ts'

export const types: Command = {
  name: 'types',
  summary: 'write assets.d.ts: a mistyped name of an asset does not compile',
  about: `Writes assets.d.ts to the project root. It holds the names of all assets: those of
every app, of packages, of bundles by their manifests, and the entries of these.
The view helpers and preload then take only those, by extension, and editors
complete them. The file must be among those that tsconfig.json includes.

In development a server keeps the file current, if it exists, whenever a source
appears or goes. Remove it, and every name is accepted again.

Whatever NODE_ENV is, the environment is development unless --env names another.
Entries of a bundler that has not built yet are not known, so all are accepted.`,
  options: {},
  examples: [['koa-fresh-assets types && tsc', 'Fail a build for a mistyped name:']],
  async run({ output, values: { env = 'development' }, loadOptions }) {
    const settings = settle({ ...(await loadOptions(env)), env })
    const sources = new Sources(settings, output.warn)
    const bundles = new Bundles(settings, output.warn)
    const isWritten = await writeNameTypes({ settings, sources, bundles })
    const file = settings.nameTypes
    output.result({ file, isWritten }, `${file} ${isWritten ? 'was written' : 'is current'}`)
    return OK
  }
}
