// On every page: the menu, the cart, and what htmx and Alpine find in the markup.
import Alpine from 'alpinejs'
import { Collapse, Dropdown, Toast, Tooltip } from 'bootstrap'
import htmx from 'htmx.org'
import { cart } from './shop/cart.js'

for (const each of document.querySelectorAll('[title]')) Tooltip.getOrCreateInstance(each)
for (const each of document.querySelectorAll('.dropdown-toggle')) Dropdown.getOrCreateInstance(each)
for (const each of document.querySelectorAll('.collapse')) {
  Collapse.getOrCreateInstance(each, { toggle: false })
}

Alpine.data('cart', () => cart(() => Toast.getOrCreateInstance('#added').show()))
Alpine.start()

globalThis.htmx = htmx
