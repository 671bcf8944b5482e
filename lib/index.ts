export const name = 'koa-fresh-assets'
