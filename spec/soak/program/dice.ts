// Random choices that a seed repeats.

export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 on. Marsaglia's xorshift of 32 bits. */
  below(limit: number): number {
    this.#state ^= this.#state << 13
    this.#state ^= this.#state >>> 17
    this.#state ^= this.#state << 5
    return (this.#state >>> 0) % limit
  }

  isOneIn(count: number): boolean {
    return this.below(count) === 0
  }

  oneOf<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T
  }
}
