// What webpack 5 says in its stats of the pages of bundler-project.ts, and of a chunk that one loads later; the real
// thing is in spec/system/building-front-ends.spec.ts.
import { writeFiles } from './site.ts'
import { words } from './texts.ts'

interface Group {
  readonly assets: readonly { readonly name: string }[]
}

interface Stats {
  readonly entrypoints: Readonly<Record<string, Group>>
  readonly namedChunkGroups: Readonly<Record<string, Group>>
  readonly assets: readonly { readonly name: string }[]
}

const group = (names: string): Group => ({ assets: words(names).map(name => ({ name })) })

const RUNTIME = 'runtime.09976318039acc6fd288.js'
const SHEET = '373.d17e4c999d5d058ac77b.css'
const SHARED = `${SHEET} 843.f4e68083f2419801d135.js 843.a9eb7161a7037e3ec25a.css`
const ENTRYPOINTS = {
  main: group(`${RUNTIME} ${SHARED} main.4bbe07cc070508e326ff.js main.41a2b9daf2030c0b4b93.css`),
  admin: group(`${RUNTIME} ${SHARED} admin.532ad1e55a8288daca54.js admin.7a409150db35650b956c.css`),
  print: group(`${RUNTIME} ${SHEET} print.d5bfd227c1a4e072daf8.css`)
}
const LATER = group(`${SHARED} later.b4ffc06f6f097a031291.js later.0a79f5de0b9675068cfc.css`)
const IMAGE = 'ddcf92db3cefa73102a5.svg'

/** Writes the stats, and files of these names into the folder. */
export function writeStats(root: string, folder: string, file = `${folder}.json`): Stats {
  const groups = [...Object.values(ENTRYPOINTS), LATER]
  const names = new Set([...groups.flatMap(({ assets }) => assets.map(({ name }) => name)), IMAGE])
  const stats = {
    entrypoints: ENTRYPOINTS,
    namedChunkGroups: { ...ENTRYPOINTS, later: LATER },
    assets: Array.from(names, name => {
      const contenthash = /[0-9a-f]{20}/.exec(name)?.[0]
      const image = name === IMAGE && { sourceFilename: 'src/logo.svg' }
      return { name, info: { immutable: true, contenthash, ...image } }
    })
  }
  const files = Array.from(names, name => [`${folder}/${name}`, name])
  writeFiles(root, { ...Object.fromEntries(files), [file]: JSON.stringify(stats) })
  return stats
}
