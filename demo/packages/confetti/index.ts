/**
 * Stands for a package from npm, whose package.json would have `koa-fresh-assets` as a peer dependency.
 * Importing it adds its assets to every application, searched last.
 */
import { join } from 'node:path'
import { assetSources } from 'koa-fresh-assets'

assetSources.append(join(import.meta.dirname, 'assets'))
