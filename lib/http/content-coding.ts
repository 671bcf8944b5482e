// Which content coding an Accept-Encoding asks for (RFC 9110 section 12.5.3).

/** One form in which a resource can be sent. */
export interface Offer {
  /** `identity`, `gzip`, `br`, `zstd`. */
  readonly coding: string
  /** In bytes. */
  readonly size: number
}

/**
 * The offer with the highest weight, and of those the smallest. Without the header anything would
 * do, and identity is what everybody understands; where nothing is acceptable it is identity, too.
 * @param offers identity among them
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

// Identity is acceptable unless it is excluded, but less wanted than anything that was named.
const UNNAMED_IDENTITY = Number.MIN_VALUE

function weightOf(coding: string, weights: ReadonlyMap<string, number>): number {
  const named = weights.get(coding) ?? weights.get('*')
  return named ?? (coding === 'identity' ? UNNAMED_IDENTITY : 0)
}

const MEMBER = /^([!#$%&'*+\-.^_`|~\w]+)[ \t]*(?:;[ \t]*q=([01](?:\.\d{0,3})?)[ \t]*)?$/i

/** The first weight of each coding; what cannot be read is passed over. */
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
