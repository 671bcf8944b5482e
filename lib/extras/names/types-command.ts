// The `types` command.
import { namedInProduction, writeNameTypes } from './name-types.ts'
import { typesFile } from './options.ts'
import { OK } from '../../publishing/cli/command.ts'
import type { Command } from '../../runtime/app/parts.ts'

export const types: Command = {
  name: 'types',
  before: 'precompile',
  summary: 'write assets.d.ts: a mistyped name of an asset does not compile',
  about: `Writes assets.d.ts to the project root. It holds the names of all assets: those of
every app, of packages, of bundles by their manifests, and the entries of these.
The view helpers and preload then take only those, by extension, and editors
complete them. The file must be among those that tsconfig.json includes.

In development a server keeps the file current, if it exists, whenever a source
appears or goes. Remove it, and every name is accepted again.

Whatever NODE_ENV and --env are, the names are those of production, so the file is
the same everywhere. Entries of a bundler that has not built yet are not known, so
all are accepted.`,
  options: {},
  examples: [['koa-fresh-assets types', 'Before tsc, which then fails for a mistyped name:']],
  async run({ output, loadProject }) {
    const named = await namedInProduction(await loadProject('deployment'), output.warn)
    const isWritten = await writeNameTypes(named)
    const file = typesFile(named.project)
    output.result({ file, isWritten }, `${file} ${isWritten ? 'was written' : 'is current'}`)
    return OK
  }
}
