import { css, html, LitElement } from 'lit'

class ShopStars extends LitElement {
  static properties = { value: { type: Number } }

  static styles = css`
    button {
      border: 0;
      background: none;
      font-size: 1.25rem;
    }
  `

  render() {
    return [1, 2, 3, 4, 5].map(
      star =>
        html`<button aria-label=${star} @click=${() => (this.value = star)}>
          ${star <= this.value ? '★' : '☆'}
        </button>`
    )
  }
}

export const defineStars = () => customElements.define('shop-stars', ShopStars)
