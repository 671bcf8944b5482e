// Selects a content coding by Accept-Encoding (RFC 9110 section 12.5.3).

/** One coding, such as `identity` or `br`, in which a resource is available, and its size in bytes. */
interface Offer {
  readonly coding: string
  readonly size: number
}

/**
 * The offer with the highest weight; among equals the smallest. Identity without the header, although any
 * coding is then acceptable, and where no offer is.
 * @param offers including identity
 */
export function chooseCoding<T extends Offer>(
  acceptEncoding: string | undefined,
  offers: readonly T[]
): T | undefined {
  const identity = offers.find(offer => offer.coding === 'identity')
  if (acceptEncoding === undefined || offers.length < 2) return identity
  const weights = readWeights(acceptEncoding)
  let best: T | undefined
  let bestWeight = 0
  for (const offer of offers) {
    const weight = weightOf(offer.coding, weights)
    const wins = weight > bestWeight || (weight === bestWeight && offer.size < (best?.size ?? 0))
    if (weight > 0 && wins) {
      best = offer
      bestWeight = weight
    }
  }
  return best ?? identity
}

/** Whether a coding is acceptable by its own name: `*` is not enough for one that needs more than a decoder. */
export function acceptsByName(acceptEncoding: string | undefined, coding: string): boolean {
  return acceptEncoding !== undefined && (readWeights(acceptEncoding).get(coding) ?? 0) > 0
}

// Identity is acceptable unless it is excluded, but comes after every coding that is named.
const UNNAMED_IDENTITY = Number.MIN_VALUE

function weightOf(coding: string, weights: ReadonlyMap<string, number>): number {
  const named = weights.get(coding) ?? weights.get('*')
  return named ?? (coding === 'identity' ? UNNAMED_IDENTITY : 0)
}

const MEMBER = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?)[ \t]*)?$/i

/** The first weight of each coding; invalid members are skipped. */
function readWeights(acceptEncoding: string): Map<string, number> {
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
