import { digestOf } from '../../lib/runtime/files/digest.ts'
import { words } from '../support/texts.ts'

const DIGEST = digestOf('')

// Request targets that must never be answered with a file, by the case that they belong to.
export const notOurs: Readonly<Record<string, readonly string[]>> = {
  'a sibling whose name begins like public cannot be reached': words(`
    /../public-secret/x /%2e%2e/public-secret/x /%2E%2E/public-secret/x /.%2e/public-secret/x
    /..%2fpublic-secret/x /..%2Fpublic-secret%2Fx /../public-secret /assets/../../public-secret/x
    /assets/..%2f..%2fpublic-secret%2fx
  `),
  'a path with two slashes, also before another host, is not found': words(`
    //evil.example/%2e%2e //evil.example/.. /\\\\evil.example/.. /\\evil.example/%2f..
    //evil.example ///evil.example /%5Cevil.example/.. /%2f%2fevil.example /%09/evil.example
    /admin// //admin /css//
  `),
  'no response is a redirect, not even for a directory without its slash': words(`
    /css /admin /assets / /assets/ //css /css?x=/..
  `),
  'markup in a path is not reflected': words(`
    /dir%22%3E%3Cscript%3E /assets/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E
    /assets/%3Cimg%20src=x%3E.css /"><script>
  `),
  'a path with a drive letter is not found': words(`
    /C:../../x /C:%5Cwindows%5Cwin.ini /static/C:/x /C:/windows/win.ini /assets/C:app.css
    /assets/C%3Aapp.css
  `),
  'a file: URL in a path is not found': words(`
    /assets/file:%2f%2f//etc/passwd /assets/file:%252f%252f//etc/passwd
    /assets/file:///etc/passwd /assets/file%3A%2F%2F%2Fetc%2Fpasswd
  `),
  'a fingerprint in a path hides no way up, no dotfile and no partial': words(`
    /assets/.-${DIGEST}./etc/passwd /assets/.-${DIGEST}./.-${DIGEST}./etc/passwd
    /assets/..-${DIGEST}/package.json /assets/-${DIGEST}.. /assets/-${DIGEST}.env
    /assets/.env-${DIGEST} /assets/-${DIGEST} /assets/x/-${DIGEST} /assets/_part-${DIGEST}.scss
    /assets/sheet.css-${DIGEST}.scss
  `),
  'a path with backslashes is not found, whether or not the file exists': words(`
    /..%5c..%5cetc%5cpasswd /..%5C..%5Cno%5Csuch%5Cfile /%5c../ /%5c../etc/passwd /css%5csite.css
    /css\\site.css /css\\no-such.css
  `),
  'a path with . or .. is not found, even behind a real directory': words(`
    /css/../../package.json /css/%2e%2e/%2e%2e/package.json /css/..%2f..%2fpackage.json
    /css/../site.css /css/./site.css /css/x/../site.css /assets/../robots.txt
  `),
  'a path with needlessly encoded characters is not found': words(`
    /assets/app%2ejs /assets/app%2Ejs /assets/%61pp.js /assets/app.j%73 /robots%2etxt /%72obots.txt
    /assets/app%2dx.js /%61ssets/app.css /%61ssets/app.js /assets%2fapp.css /assets%2Fapp.js
  `),
  'a path is decoded once': words(`
    /%252e%252e/%252e%252e/etc/passwd /%252e%252e%252fpackage.json
    /assets/%252e%252e/%252e%252e/package.json /assets/app%252ejs /admin%252fsecret.html
    /%25%32%65%25%32%65/package.json
  `),
  'hidden files, and names before a slash, a backslash or #, are not found': words(`
    /.env/. /.env%2f. /.env?raw /.env?import&raw /.env/ /.env#x /assets/app.css/. /assets/app.css\\
    /assets/app.css%5C /assets/app.css/ /assets/app.css#x /robots.txt/ /robots.txt/.
  `),
  'dotfiles are not found': words(`
    /.env /%2eenv /.git/config /.GIT/config /assets/a/.b/c /assets/.env /assets/.git/config
    /assets/.hidden.css /assets/stylesheets/.hidden.css /.well-known/.hidden /.well-known/../.env
    /.well-known /.well-known/ /deep/.well-known/x /%2ewell-known/x /.well-known%2fx /.
  `),
  'names that Windows reads as a device or as another file are not found': words(`
    /CON /con.txt /assets/aux.css /aux.css /LPT1.css /nul /assets/app.css::$DATA /assets/app.css:x
    /robots.txt::$DATA /assets/app.css. /assets/app.css.. /assets/app.css%20 /robots.txt%20
    /robots.txt. /css./site.css /css%20/site.css /ADMIN~1/secret.html /assets/nul.css
    /assets/app.js. /con /NUL /COM1 /assets/prn /assets/CONIN$/x /robots.txt%20. /LONGNA~1.CSS
    /longna~1.css /assets/app.css:stream /robots.txt%3A%3A$DATA /%5C%5C.%5Cnul /assets/..%5Capp.css
  `),
  'names beyond ASCII that do not exist are not found': words(`
    /assets/%C3%A4.css /assets/%E2%80%AE.css /assets/%EF%BC%8E%EF%BC%8E/x
    /%EF%BC%8F%EF%BC%8Fetc/passwd /assets/%F0%9F%98%80.png /assets/${'%C3%A4'.repeat(200)}.css
  `),
  'a name is never read as a pattern': words(`
    /assets/* /assets/ap /assets/app /assets/app. /assets/app.cs /assets/{a,app}.js
    /assets/[a-z]pp.js /assets/**/app.js /assets/%2A /assets/?pp.js /assets/%3Fpp.js
    /assets/app.(css|js) /assets/!(x).js /assets/APP.css /assets/App.js /ROBOTS.TXT
  `),
  'names of object properties are not found unless they are files': words(`
    __proto__ constructor prototype toString hasOwnProperty valueOf __proto__/polluted
    constructor/prototype x.__proto__ x.constructor app.__proto__
  `).flatMap(key => [`/assets/${key}`, `/${key}`])
}
