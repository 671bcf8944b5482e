// Installed by `npm run bench` alone; npm test checks the types of the rest.
declare module '@fastify/static'
declare module 'express'
declare module 'fastify'
declare module 'koa-static'
declare module 'koa-static-cache'
declare module 'serve-static'
declare module 'sirv'
