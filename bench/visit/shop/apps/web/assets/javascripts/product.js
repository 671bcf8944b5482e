import Sortable from 'sortablejs'
import { drawPrices } from './shop/prices.js'
import { defineStars } from './shop/stars.js'

defineStars()
drawPrices(document.querySelector('#prices'))
Sortable.create(document.querySelector('#wishes'), { animation: 150 })
