// The project that is attacked: what may be served, and beside it what may not.
import { isWindows, makeProject, words, writeFiles } from '../support/index.ts'
import type { ExecutionContext, Files } from '../support/index.ts'

export const SECRET = 'the-secret-of-the-stronghold'

/** These hold the secret alone. */
const SECRETS = words(`
  public-secret/x public/admin/secret.html public/.env public/.git/config
  public/.well-known/.hidden public/deep/.well-known/x public/assets/a/.b/c apps/web/assets/.env
  apps/web/assets/.git/config apps/web/assets/stylesheets/.hidden.css apps/web/views/page.ejs
`)

/** What some file systems take for another file, or for a device. */
const OTHER_NAMES = [
  ...words(`
    public/CON public/con.txt public/aux.css public/LPT1.css public/robots.txt.
    public/css./site.css public/assets/aux.css public/assets/app.css. public/assets/app.css:x
    public/assets/app.css\\ apps/web/assets/stylesheets/nul.css
    apps/web/assets/stylesheets/app.js.
  `),
  'public/robots.txt ',
  'public/assets/app.css '
]

const files: Files = {
  'package.json': `{ "name": "${SECRET}" }`,
  '.env': `SECRET=${SECRET}`,
  'apps/web/assets/stylesheets/app.css': 'body { color: red }',
  'apps/web/assets/stylesheets/sheet.css.scss': '@use "part"; body { color: green }',
  'apps/web/assets/stylesheets/_part.scss': `.part { content: "${SECRET}" }`,
  'apps/web/assets/javascripts/app.js': 'console.log(1)',
  'apps/web/assets/images/logo.png': 'png',
  'public/index.html': 'index',
  'public/robots.txt': 'robots',
  'public/longname-of-a-file.css': 'short: longna~1.css',
  'public/css/site.css': 'site',
  'public/.well-known/x': 'known',
  'public/assets/app.css': 'body { color: red }',
  'public/assets/app.js': 'console.log(1)',
  'public/assets/sheet.css': 'body { color: green }'
}

export function makeStronghold(t: ExecutionContext, more: Files = {}): string {
  const root = makeProject(t, files)
  const names = [...SECRETS, ...(isWindows ? [] : OTHER_NAMES)]
  for (const name of names) writeFiles(root, { [name]: SECRET })
  writeFiles(root, more)
  return root
}
