// Connects pages with the builds of bundlers, by their manifests, and with Vite's dev servers.
import type { Extra } from '../../runtime/app/extra.ts'
import { startBundles } from './bundles.ts'

export const vite: Extra = { name: 'vite', run: startBundles }
