// The last Koa before 3. The alias under which it is installed has no types of its own.
import type Koa from 'koa'

const alias = 'koa2'

export const Koa2 = ((await import(alias)) as { default: typeof Koa }).default
