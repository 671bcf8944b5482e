// For specs that look at bytes: precompiled as the sources are written, whether something could minify or join them or not.
import { LAYERED } from '../../lib/assets/settings/option-table.ts'

const off: object = Object.fromEntries(
  ['minify', 'bundle'].filter(name => name in LAYERED).map(name => [name, false])
)

export const AS_WRITTEN: { readonly env?: string } = off
