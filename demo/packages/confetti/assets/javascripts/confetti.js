/** Throws confetti on a click on any element with `data-confetti`. */
const pieces = 36
const still = matchMedia('(prefers-reduced-motion: reduce)')

document.addEventListener('click', event => {
  const source = event.target instanceof Element && event.target.closest('[data-confetti]')
  if (!source || still.matches) return

  const { left, top, width, height } = source.getBoundingClientRect()
  for (let i = 0; i < pieces; i++) throwPiece(i, left + width / 2, top + height / 2)
})

/** @type {(i: number, x: number, y: number) => void} */
function throwPiece(i, x, y) {
  const piece = document.createElement('i')
  piece.className = 'confetti'
  piece.style.left = `${x}px`
  piece.style.top = `${y}px`
  piece.style.setProperty('--hue', String((i * 360) / pieces))
  piece.style.setProperty('--x', `${(Math.random() - 0.5) * 420}px`)
  piece.style.setProperty('--y', `${-60 - Math.random() * 240}px`)
  piece.style.setProperty('--turn', `${Math.random() * 900 - 450}deg`)
  piece.addEventListener('animationend', () => piece.remove())
  document.body.append(piece)
}
