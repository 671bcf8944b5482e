/** What the server prints once it listens: where to look, and what is true of its environment. */

export function welcome(address: string, production: boolean): string {
  return `
The demo of koa-fresh-assets is at ${address}

${production ? inProduction(address) : inDevelopment(address)}

  curl -i ${address}/caching/article       200 with an ETag; once more, 304:
  curl -i ${address}/caching/article -H 'If-None-Match: "article-1"'
  curl -i ${address}/caching/note -X PUT -d 'Hello' -H 'If-Match: "outdated"'  # 412

Ctrl-C ends it.`
}

function inDevelopment(address: string): string {
  return `  ${address}          edit demo/apps/web/assets/stylesheets/base/_tokens.scss, reload
  ${address}/caching  watch requests that are answered 200, 304 and 412
  ${address}/admin    a second application with a stylesheet of the same name

  curl -i ${address}/assets/app.css        Sass, compiled when it is asked for
  curl -i ${address}/assets/admin/app.css  the other application's, from Less
  curl -i ${address}/assets/confetti.js    from a third-party package`
}

function inProduction(address: string): string {
  return `  ${address}          every URL bears the checksum of its file, every tag its integrity
  ${address}/caching  watch requests that are answered 200, 304 and 412
  ${address}/admin    a second application with a stylesheet of the same name

Nothing is compiled any more: after an edit, run it again.

  curl -s ${address}/ | grep assets/               the names that the page asks for
  curl -i ${address}/assets/app.css                the plain name, revalidated
  curl -i ${address}/assets/app.css --compressed   the copy in Brotli, made beforehand
  node dist/cli.js verify --root demo                 is everything there, and whole?
  node dist/cli.js explain app.css --root demo --env production`
}
