// The project that is attacked: what may be served, and beside it what may not.
import type { ExecutionContext } from '../support/test.ts'
import { makeProject, type Files } from '../support/site.ts'
import { isWindows } from '../support/windows.ts'

export const SECRET = 'the-secret-of-the-stronghold'

/** What some file systems take for another file, or for a device. */
const OTHER_NAMES: Files = {
  'public/CON': SECRET,
  'public/con.txt': SECRET,
  'public/aux.css': SECRET,
  'public/LPT1.css': SECRET,
  'public/robots.txt.': SECRET,
  'public/robots.txt ': SECRET,
  'public/css./site.css': SECRET,
  'public/assets/aux.css': SECRET,
  'public/assets/app.css.': SECRET,
  'public/assets/app.css ': SECRET,
  'public/assets/app.css:x': SECRET,
  'public/assets/app.css\\': SECRET,
  'apps/web/assets/stylesheets/nul.css': SECRET,
  'apps/web/assets/stylesheets/app.js.': SECRET
}

const files: Files = {
  'package.json': `{ "name": "${SECRET}" }`,
  '.env': `SECRET=${SECRET}`,
  'public-secret/x': SECRET,
  'apps/web/assets/stylesheets/app.css': 'body { color: red }',
  'apps/web/assets/stylesheets/sheet.css.scss': '@use "part"; body { color: green }',
  'apps/web/assets/stylesheets/_part.scss': `.part { content: "${SECRET}" }`,
  'apps/web/assets/javascripts/app.js': 'console.log(1)',
  'apps/web/assets/images/logo.png': 'png',
  'apps/web/assets/.env': SECRET,
  'apps/web/assets/.git/config': SECRET,
  'apps/web/assets/stylesheets/.hidden.css': SECRET,
  'apps/web/views/page.ejs': SECRET,
  'public/index.html': 'index',
  'public/robots.txt': 'robots',
  'public/css/site.css': 'site',
  'public/admin/secret.html': SECRET,
  'public/.env': SECRET,
  'public/.git/config': SECRET,
  'public/.well-known/x': 'known',
  'public/.well-known/.hidden': SECRET,
  'public/deep/.well-known/x': SECRET,
  'public/assets/app.css': 'body { color: red }',
  'public/assets/app.js': 'console.log(1)',
  'public/assets/sheet.css': 'body { color: green }',
  'public/assets/a/.b/c': SECRET,
  ...(isWindows ? {} : OTHER_NAMES)
}

export function makeStronghold(t: ExecutionContext, more: Files = {}): string {
  return makeProject(t, { ...files, ...more })
}
