// Selects a content coding by Accept-Encoding (RFC 9110 section 12.5.3).

/**
 * The offer with the highest weight; among equals the smallest. Identity without the header, although any coding
 * is then acceptable, and when no offer is acceptable.
 * @param offers including identity
 */
export function chooseCoding<T extends { readonly coding: string; readonly size: number }>(
  acceptEncoding: string | undefined,
  offers: readonly T[]
): T | undefined {
  const identity = offers.find(offer => offer.coding === 'identity')
  if (acceptEncoding === undefined || offers.length < 2) return identity
  const weights = weightsIn(acceptEncoding)
  let [best, bestWeight] = [identity, 0]
  for (const offer of offers) {
    const { coding, size } = offer
    // Identity is acceptable unless it is excluded, but comes after every coding that is named.
    const unnamed = coding === 'identity' ? Number.MIN_VALUE : 0
    const weight = weights.get(coding) ?? weights.get('*') ?? unnamed
    if (weight === 0 || weight < bestWeight) continue
    if (weight === bestWeight && best && size >= best.size) continue
    ;[best, bestWeight] = [offer, weight]
  }
  return best
}

const MEMBER = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?)[ \t]*)?$/i

/** The first weight of each coding; invalid members are skipped. */
export function weightsIn(acceptEncoding: string): Map<string, number> {
  const weights = new Map<string, number>()
  for (const member of acceptEncoding.split(',')) {
    const [, name, weight = '1'] = MEMBER.exec(member.trim()) ?? []
    if (name === undefined) continue
    // Section 8.4.1.3: x-gzip is gzip.
    const coding = name.toLowerCase().replace(/^x-gzip$/, 'gzip')
    if (!weights.has(coding)) weights.set(coding, Math.min(1, Number(weight)))
  }
  return weights
}
