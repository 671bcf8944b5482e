// The two pages of the shop, as a template would write them. The tags are those of each contestant.

const FONTS = [400, 700].map(weight => `files/dm-sans-latin-${weight}-normal.woff2`)

/** All that is configured: leaflet has no entry for modules, so its file is named. */
export const PACKAGES = {
  packages: [
    'alpinejs',
    'bootstrap',
    'chart.js',
    'htmx.org',
    'leaflet/dist/leaflet-src.esm.js',
    'lit',
    'sortablejs',
    { '@fontsource/dm-sans': FONTS, leaflet: ['dist/leaflet.css'] }
  ]
} as const

export interface Tags {
  /** What the head of a page contains, for a stylesheet and a script each of `names`. */
  readonly head: (names: readonly string[]) => string
  readonly image: (name: string) => string
}

export function pageOf(path: string, { head, image }: Tags): string | undefined {
  if (path === '/') return layout('A chair', head(['app', 'product']), image, product(image))
  if (path === '/shops') return layout('Our shops', head(['app', 'map']), image, SHOPS)
  return undefined
}

const layout = (title: string, tags: string, image: Tags['image'], main: string) => `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <link rel="icon" href="data:,">
  ${tags}
</head>
<body x-data="cart">
  <nav class="navbar navbar-expand-lg">
    <div class="container">
      <a class="navbar-brand" href="/">${image('logo.svg')}</a>
      <div class="collapse navbar-collapse" id="menu">
        <ul class="navbar-nav me-auto">
          <li class="nav-item"><a class="nav-link" href="/shops">Our shops</a></li>
          <li class="nav-item dropdown">
            <button class="nav-link dropdown-toggle" data-bs-toggle="dropdown">Furniture</button>
            <ul class="dropdown-menu">${FURNITURE.map(name => `<li><a class="dropdown-item" href="/${name.toLowerCase()}">${name}</a></li>`).join('')}</ul>
          </li>
        </ul>
        <span class="navbar-text" x-text="label"></span>
      </div>
    </div>
  </nav>
  <main class="container my-4">${main}</main>
  <div class="toast" id="added" role="status">It is in your cart.</div>
</body>
</html>
`

const FURNITURE = ['Chairs', 'Tables', 'Lamps']

const product = (image: Tags['image']) => `
  <div class="row g-4">
    <div class="col-lg-7"><div class="product-picture ratio">${image('chair.svg')}</div></div>
    <div class="col-lg-5">
      <h1>A chair of ash</h1>
      <shop-stars value="4"></shop-stars>
      <p class="price fs-3">€199.00 <small class="text-body-secondary" title="Until the end of November">instead of €240.00</small></p>
      <p>Ash, and a seat woven of paper cord.</p>
      <button class="btn btn-primary" @click="add(199)">Add to cart</button>
      <button class="btn btn-link" hx-get="/comments" hx-target="#comments">What others say</button>
      <div id="comments"></div>
    </div>
  </div>
  <h2 class="mt-4">What it has cost</h2>
  <canvas id="prices" height="80"></canvas>
  <h2 class="mt-4">Your wishes, in your order</h2>
  <ul class="list-group" id="wishes">
    ${['A table of oak', 'Two stools', 'A lamp of brass'].map(wish => `<li class="list-group-item">${wish}</li>`).join('')}
  </ul>`

const SHOPS = '<h1>Our shops</h1><div class="shops-map" id="map"></div>'
