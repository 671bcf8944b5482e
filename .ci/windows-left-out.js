// Specs that do not run as a Windows process under Wine, by reason: files, as globs below spec/, and titles, as
// patterns for AVA's --match.
export const LEFT_OUT = [
  {
    why: 'it makes symbolic links: Wine 8 does not, and Windows asks for a privilege',
    files: [
      'security/links',
      'security/copies',
      'extras/vite/with-routes.build',
      'extras/modules/joining/missing'
    ],
    titles: [
      'a folder or a link in the place of a lock is an error that names it',

      'links in a mount follow its own*',
      'versionOf follows links, also in a cycle',
      'a source directory that is a link works',
      'with symlinks: *',
      'a mount whose link is switched*',
      'a link that would expose*',

      'where root, its app or a source is a link*',

      '* removes nothing through a folder that becomes a link*',

      'a file that is *behind a link to its folder* is served after*',
      'a file whose folders have more names than are remembered is served*',
      'an excluded file cannot be requested by a link*',
      'compress follows no link*',
      'keep follows no link*',
      'a bundler’s manifest is never served*',
      'a delta that is damaged*',
      'clean follows no link*',
      'init writes nothing through a link*',

      'an open page finds the files of its build after two deploys*',
      'a file that the new build has is never kept*',
      'a mistyped name*',
      'entries and sources of a build*',
      'in production explain reports a missing manifest*',
      'verifyCopies reports copies without an original*',
      'with Vite * the application, a page has the URLs*',
      'without esbuild nothing is minified*',

      "where Node cannot import TypeScript, the project's tsx does"
    ]
  },
  {
    why: 'it sends signals, sets a umask or ulimit, or runs as another user',
    titles: [
      'precompile that is stopped by SIGINT publishes nothing',
      'precompile that does not stop on SIGTERM ends on SIGINT',
      'a killed precompile leaves a manifest whose files are all intact',
      'a signal that comes while plain names are replaced*',
      'under umask 077 a web server can read*',
      'without free descriptors there are errors for a while*',
      'an asset that cannot be read or published is a 500 that names it*',
      'a file or folder of a mount or public that may not be read is a 404*',
      'a file or folder that may not be read at start is an error that says what to do',
      'a folder that may be entered and not listed serves its files*'
    ]
  },
  {
    why: 'it makes a FIFO',
    titles: [
      'init opens nothing that is no file*',
      'a path that leads out, is hidden or is not a file*',
      'an announcement is ignored unless it is a file*'
    ]
  },
  {
    why: 'it asks the /proc of Linux',
    files: ['runtime/files/without-proc', 'publishing/writing/power-loss']
  },
  {
    why: 'NTFS has no such names, or takes two of them for one',
    titles: [
      'a name that cannot be requested is an error that states the reason*',
      'commands and the types print names with escapes*',
      'a warning and an error of the running site name files with escapes',
      'names that contain markup*',
      'names that are not valid in a request are never served, whatever is on disk',
      'a folder of 20,000 names is listed at most once a second*',
      'the names of joined modules may have spaces*',
      'names that differ only in case are two names, each with its own bytes'
    ]
  },
  {
    why: 'Windows replaces no file that is open',
    titles: [
      'a file that *is replaced* whenever it is looked at is a 200*',
      'a precompile that lost its lock while it was paused replaces nothing',
      'a file that is replaced while it is sent *',
      'an open file is unmodified while only its names change*'
    ]
  },
  {
    why: 'Wine 8 takes a rename that changes only the case of a name for none',
    titles: ['a name that a browser requests in vain is logged with the nearest name']
  },
  {
    why: 'Wine 8 finds no real path of more than 260 characters',
    titles: ['a path of more than 260 characters*']
  },
  {
    why: 'Wine does not tell a watcher that its folder is gone, which keeps the name',
    titles: ['sources and public can be removed and restored while the server runs*']
  },
  {
    why: 'Wine 8 loses, once in a few runs, the event of a file in a folder that was made again',
    titles: ['css/deep* and created again: the next change is reported']
  },
  {
    why: 'fetch sets TCP_KEEPALIVE, which Wine 8 refuses',
    titles: ["React's refresh needs no option*", 'tags lead to the dev server of the plugin*']
  },
  {
    why: 'Wine 8 lists no network interfaces',
    titles: ['another address of this machine is refused']
  },
  {
    why: 'each of its cases starts several servers and takes 45 s under Wine, and four others show the same',
    titles: ['nothing that the last server kept is trusted after *']
  },
  {
    why: 'it runs lines of a POSIX shell',
    files: ['readme', 'docs/examples', 'docs/serving', 'docs/tasks']
  },
  {
    why: 'it is about the checkout or the package, not about the system',
    files: ['house', 'runtime/ground', 'docs/**', 'package']
  }
]
