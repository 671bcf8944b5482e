import { money } from './money.js'

/** The state of the cart, for Alpine. */
export function cart(onAdded) {
  return {
    count: 0,
    sum: 0,
    get label() {
      return this.count === 0 ? 'Your cart is empty' : `${this.count} for ${money(this.sum)}`
    },
    add(price) {
      this.count += 1
      this.sum += price
      onAdded()
    }
  }
}
