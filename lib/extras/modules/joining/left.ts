// Reports references of packages to files that are nowhere, where joined code has kept them.
import { referenceErrors } from '../../../publishing/rendering/reference-errors.ts'
import { isBare } from '../../../publishing/references/module-references.ts'
import { isInModule, type Reference } from '../../../publishing/references/references.ts'
import type { Unfinished } from '../../../publishing/building/links.ts'
import type { AssetError } from '../../../runtime/errors.ts'

const ELSEWHERE = /^(?:[a-z][a-z\d+.-]*:|\/\/)/i

/**
 * The app's own modules were checked before. A package may do without a package that it imports lazily.
 * @param written are the modules as they were before they were joined
 */
export async function leftIn(
  root: string,
  { draft, links, sources = [] }: Unfinished,
  written: ReadonlyMap<string, Unfinished>
): Promise<readonly AssetError[]> {
  const left = new Set(lostIn(draft, links).map(({ path }) => path))
  const origins = sources.flatMap(path => written.get(path) ?? [])
  const ofPackages = origins.filter(({ source }) => source.packageName !== undefined)
  const errors = ofPackages.map(asset => {
    const lost = lostIn(asset.draft, asset.links).filter(({ path }) => left.has(path))
    return referenceErrors({ root, asset, ...asset.draft }, lost, () => Promise.resolve([]))
  })
  return (await Promise.all(errors)).flat()
}

function lostIn({ text }: Unfinished['draft'], links: Unfinished['links']): readonly Reference[] {
  const isLost = (each: Reference, at: number) =>
    links[at] === undefined && isInModule(each) && !isBare(each) && !ELSEWHERE.test(each.path)
  return text?.references.filter(isLost) ?? []
}
