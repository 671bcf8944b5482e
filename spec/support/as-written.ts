// For specs that look at bytes: precompiled as the sources are written, whether something could minify them or not.
import { LAYERED } from '../../lib/assets/settings/option-table.ts'

const off: object = 'minify' in LAYERED ? { minify: false } : {}

export const AS_WRITTEN: { readonly env?: string } = off
