// The same sources, as Vite builds them.
import { defineConfig } from 'vite'

const assets = 'apps/web/assets'

export default defineConfig({
  base: '/static/',
  publicDir: `${assets}/images`,
  logLevel: 'error',
  css: { preprocessorOptions: { scss: { quietDeps: true, silenceDeprecations: ['import'] } } },
  build: {
    manifest: true,
    sourcemap: true,
    rolldownOptions: {
      input: [
        `${assets}/stylesheets/app.css.scss`,
        `${assets}/stylesheets/map.css`,
        `${assets}/javascripts/app.js`,
        `${assets}/javascripts/product.js`,
        `${assets}/javascripts/map.js`
      ]
    }
  }
})
