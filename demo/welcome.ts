/** The text that the server prints once it listens: where to look, and what to try. */

/** @param hasVite true if there is a page /vite */
export function welcome(address: string, production: boolean, hasVite: boolean): string {
  return `
The koa-fresh-assets demo is running at ${address}

${production ? inProduction(address) : inDevelopment(address)}
${hasVite ? `\n  ${address}/vite     a React application, bundled by Vite: demo/vite\n` : ''}
  curl -i ${address}/caching/article       200 with an ETag; with that ETag, 304:
  curl -i ${address}/caching/article -H 'If-None-Match: "article-1"'
  curl -i ${address}/caching/note -X PUT -d 'Hello' -H 'If-Match: "outdated"'  # 412

Press Ctrl-C to stop.`
}

function inDevelopment(address: string): string {
  return `  ${address}          edit demo/apps/web/assets/stylesheets/base/_tokens.scss and watch
  ${address}/caching  send requests and watch 200, 304 and 412
  ${address}/packages  a React component, without a bundler to set up
  ${address}/admin    a second application with a stylesheet of the same name
  ${address}/assets/-/  the inspector: every asset, what is wrong with it, the last requests

  curl -i ${address}/assets/app.css        Sass, compiled on request
  curl -i ${address}/assets/admin/app.css  the other application's, compiled from Less
  curl -i ${address}/assets/confetti.js    from a third-party package`
}

function inProduction(address: string): string {
  return `  ${address}          fingerprinted URLs; scripts and stylesheets with integrity
  ${address}/caching  send requests and watch 200, 304 and 412
  ${address}/packages  a React component, whose packages were joined into few files
  ${address}/admin    a second application with a stylesheet of the same name

Nothing is compiled on request: after an edit, run npm run demo production again.

  curl -s ${address}/ | grep assets/               the URLs that the page uses
  curl -i ${address}/assets/app.css                the plain name, revalidated
  curl -i ${address}/assets/app.css --compressed   its precompressed Brotli copy
  node dist/cli.js verify --root demo                 is every file present and intact?
  node dist/cli.js explain app.css --root demo --env production`
}
