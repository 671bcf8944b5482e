/**
 * Stands for a package from npm, which would have a package.json with `koa-fresh-assets` as a peer
 * dependency. Importing it puts its assets at the end of every application's search.
 */
import { join } from 'node:path'
import { assetSources } from 'koa-fresh-assets'

assetSources.append(join(import.meta.dirname, 'assets'))
