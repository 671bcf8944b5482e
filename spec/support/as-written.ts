// For specs that look at bytes: precompiled as the sources are written, whether something could minify them or not.
import { LAYERED } from '../../lib/runtime/settings/table.ts'

const off = (name: string): object => (name in LAYERED ? { [name]: false } : {})

export const AS_WRITTEN: { readonly env?: string } = off('minify')

/** The same for specs that count modules, whether something could join them or not. */
export const ONE_BY_ONE: { readonly env?: string } = { ...AS_WRITTEN, ...off('bundle') }
