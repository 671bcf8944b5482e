// For specs that look at bytes: precompiled as the sources are written, whether something could minify them or not.
import { LAYERED } from '../../lib/runtime/settings/table.ts'

const set = (name: string, value: unknown): object => (name in LAYERED ? { [name]: value } : {})

/** For specs that look at the modules of an app, whether something could join them or not. */
export const APART: { readonly env?: string } = set('bundle', 'packages')

export const AS_WRITTEN: { readonly env?: string } = { ...set('minify', false), ...APART }

/** The same for specs that count modules, whether something could join them or not. */
export const ONE_BY_ONE: { readonly env?: string } = { ...AS_WRITTEN, ...set('bundle', false) }
