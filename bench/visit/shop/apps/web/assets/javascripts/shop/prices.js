import {
  CategoryScale,
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip
} from 'chart.js'
import { money } from './money.js'

Chart.register(
  CategoryScale,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip
)

/** The price of the last months. */
export function drawPrices(canvas) {
  const months = ['June', 'July', 'August', 'September', 'October', 'November']
  const data = [240, 240, 228, 219, 219, 199]
  const ticks = { callback: value => money(value) }
  return new Chart(canvas, {
    type: 'line',
    data: { labels: months, datasets: [{ label: 'Price', data, fill: true }] },
    options: { animation: false, scales: { y: { ticks } } }
  })
}
