import { map, circleMarker } from 'leaflet/dist/leaflet-src.esm.js'
import { money } from './shop/money.js'

const shops = [
  [60.17, 24.94, 12],
  [59.33, 18.07, 9]
]
const view = map('map').setView([59.8, 21.5], 6)
for (const [latitude, longitude, price] of shops) {
  circleMarker([latitude, longitude])
    .bindPopup(`Delivery: ${money(price)}`)
    .addTo(view)
}
