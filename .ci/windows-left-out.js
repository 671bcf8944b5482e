// What does not run as a Windows process under Wine, by the reason: files, as globs below spec/, and titles as AVA's --match
// takes them.
export const LEFT_OUT = [
  {
    why: 'it makes symbolic links: Wine 8 does not, and Windows asks for a privilege',
    files: [
      'security/links',
      'security/swapped',
      'extras/vite/with-routes-and-telling.build',
      'extras/modules/joining/missing'
    ],
    titles: [
      'a target that cannot be replaced is named as it was given, even behind a link',
      'a folder or a link in the place of a lock is an error that names it, and stays',
      'a swapped release is noticed, even when the served source is the same file',
      'a source directory that is *swapped by a link* and replaced is still watched*',

      'links in a mount follow its own*',
      'links that form a cycle are followed once',
      'HLT-12a links are followed, also in a cycle',
      'PUB-22 *',
      'MNT-08 a mount whose link is switched*',
      'MNT-03 S53 a link that would expose*',

      'S4 where root, its app or a source is a link*',

      'S76 * while links take the place of its temporary files*',
      'S77 *',

      'a file that is *behind a link to its folder* is served after*',
      'S30 a file whose folders have more names than are remembered is served*',
      'what is excluded has no other name: a link, also below a link*',
      'S24 S74 no link is followed*',
      'S24 keep follows no link*',
      'S54 a bundler’s manifest is not ours*',
      'S55 a delta that is damaged*',
      'S74 clean follows no link*',
      'S74 init writes nothing through a link*',

      'BND-16 a page that was open before two deploys*',
      'BND-16 no file of the new build is overwritten*',
      'PKG-01 packages are found behind links*',
      'TYP-01 a mistyped name*',
      'TYP-01 entries and sources of a build*',
      'in production explain reports a missing manifest*',
      'verifyCopies reports copies without an original*',
      'LZY-01 with Vite *',
      'without esbuild precompile says*',
      'WAY-03 a package of the workspace itself, which npm links*',

      "where Node cannot import TypeScript, the project's tsx does"
    ]
  },
  {
    why: 'it sends signals, sets a umask or ulimit, or runs as another user',
    titles: [
      'precompile stops cleanly on SIGINT, and leaves the old manifest',
      'FPR-17 until everything is written, * leaves manifest, files and plain names as they were*',
      'FPR-17 a signal that comes while plain names are replaced*',
      'PUB-19 under umask 077 a web server can read*',
      'a disk that accepts no more bytes (a limit on the size of files)*',
      'without free descriptors there are errors for a while*',
      'S73 verify does not look into a folder*',
      'what cannot be read or written is a 500 that names it, until it can be*',
      'S73 what the process may not read in a mount or public is a 404*',
      'a directory that this process may not look into is an error at start that says so'
    ]
  },
  {
    why: 'it makes a FIFO',
    titles: [
      'init opens nothing that is no file*',
      'SND-02 S59 *',
      'S81 an announcement of anything but a file*'
    ]
  },
  {
    why: 'it asks the /proc of Linux',
    files: ['runtime/files/without-proc', 'publishing/writing/power-loss']
  },
  {
    why: 'NTFS has no such names, or takes two of them for one',
    titles: [
      'FPR-05 a name that cannot be requested is an error that states the reason*',
      'S60 commands print names with escapes',
      'S60 a warning and an error of the running site name files with escapes',
      'INS-02 names that contain markup*',
      'names that are not valid in a request are never served, whatever is on disk',
      'a name that exists in two cases costs no reading of its folder*',
      'JOI-09 modules that import each other become one file*',
      'names that differ only in case are two names, each with its own bytes'
    ]
  },
  {
    why: 'Windows replaces no file that is open',
    titles: [
      'ANS-11 a file that *is replaced* whenever it is looked at is a 200*',
      'a file that was replaced or removed since it was opened is still placed where it was',
      'a precompile that lost its lock while it was paused replaces nothing',
      'ANS-11 FPR-19 a file that is replaced while it is sent *',
      'an open file is unmodified while only its names change*'
    ]
  },
  {
    why: 'Wine 8 takes a rename that changes only the case of a name for none',
    titles: ['REN-14 what no page names is logged when a browser asks for it in vain*']
  },
  {
    why: 'Wine 8 finds no real path of more than 260 characters',
    titles: ['WIN-08 *']
  },
  {
    why: 'Wine does not tell a watcher that its folder is gone, which keeps the name',
    titles: [
      'a source directory that is *removed* and replaced is still watched*',
      'sources and public that are removed while the server runs are a miss*'
    ]
  },
  {
    why: 'fetch sets TCP_KEEPALIVE, which Wine 8 refuses',
    titles: [
      "MNT-06 MOV-04 curl and Node's fetch are judged by their Accept*",
      "BND-09 React's refresh needs no option*",
      'BND-09 BND-10 tags lead to the dev server of the plugin*'
    ]
  },
  {
    why: 'Wine 8 lists no network interfaces',
    titles: ['S58 LIV-05 another address of this machine is refused']
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
