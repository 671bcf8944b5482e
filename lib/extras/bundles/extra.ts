// Reads bundlers' manifests: entries, hashed names, files by source.
import type { Extra } from '../../runtime/app/parts.ts'
import { startBundles } from './bundles.ts'

export const bundles: Extra = { name: 'bundles', standsOn: ['vite'], run: startBundles }
