import react from '@vitejs/plugin-react'
import { freshAssets } from 'koa-fresh-assets/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), freshAssets({ mount: '/vite-app', input: 'src/main.tsx' })],
  build: {
    // A small image inlined as data: would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0
  }
})
