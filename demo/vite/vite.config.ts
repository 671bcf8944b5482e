import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  // The URL path of the mount in assets.config.ts.
  base: '/vite-app/',
  plugins: [react()],
  build: {
    // For ctx.assets.entry, which computes the integrity as well.
    manifest: true,
    // A small image inlined as data: would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    rolldownOptions: { input: 'src/main.tsx' }
  },
  // For `npx vite demo/vite`: images are on another origin than the page. Not for `npm run demo:vite`.
  server:
    process.env.DEMO_VITE === 'true'
      ? {}
      : { port: 5173, strictPort: true, origin: 'http://localhost:5173' }
})
