/** `undefined` is "not given" in every option. Checked by `tsc -p spec`, never run. */

import { koaAssets } from '../../lib/index.ts'
import type {
  AppOptions,
  KoaAssetsOptions,
  LayeredOptions
} from '../../lib/assets/settings/options.ts'

/** What reads its options from elsewhere has undefined for what is not there. */
type Unset<T> = { [K in keyof T]-?: undefined }

declare const layer: Unset<LayeredOptions>
declare const app: Unset<AppOptions>
declare const top: Unset<KoaAssetsOptions>

koaAssets(top)
koaAssets({ ...top, root: '/srv', apps: { web: app, admin: undefined } })
koaAssets({ configure: { production: layer, staging: undefined } })
koaAssets({ memory: { maxBytes: undefined, maxFileBytes: undefined }, index: { max: undefined } })
koaAssets({ missing: 'ignore', tails: false })
