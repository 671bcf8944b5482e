// What does not run as a Windows process under Wine, by the reason: files, as globs below spec/, and titles as AVA's --match
// takes them.
export const LEFT_OUT = [
  {
    why: 'it asks /proc of Linux, or limits a process as POSIX shells do',
    files: [
      'files/disk',
      'files/without-proc',
      'files/writing/power-loss',
      'security/swapped',
      'security/downloads'
    ],
    titles: ['a lock that is free: whichever call*', 'a lock that was abandoned: whichever call*']
  },
  {
    why: 'it makes symbolic links: Wine 8 does not, and Windows asks for a privilege',
    files: ['security/links'],
    titles: [
      'a target that cannot be replaced is named as it was given, even behind a link',
      'a folder or a link in the place of a lock is an error that names it, and stays',
      'a swapped release is noticed, even when the served source is the same file',
      'links that form a cycle are followed once',
      'PUB-22 *',
      'HLT-12a links are followed, also in a cycle'
    ]
  },
  {
    why: 'NTFS has no such names, or takes two of them for one',
    titles: [
      'names that are not valid in a request are never served, whatever is on disk',
      'SRV-11 a name with any characters is served under its encoded form*',
      'names that differ only in case are two names, each with its own bytes',
      'a file is found under any name that it can have, and once it is gone its name is a 404',
      'REN-14 what no page names is logged when a browser asks for it in vain*'
    ]
  },
  {
    why: 'it is about modes, or errors, that Windows has not',
    titles: [
      'a file, or a copy of one, is written with its folders and mode 0644',
      'what cannot be written leaves the old target, and no temporary file'
    ]
  },
  {
    why: 'Wine 8 finds no real path of more than 260 characters',
    titles: ['WIN-08 *']
  },
  {
    why: 'Wine does not tell a watcher that its folder is gone, which keeps the name',
    titles: ['the directory, * and created again: the next change is reported', 'SET-14 *']
  },
  {
    why: 'it runs lines of a POSIX shell',
    files: ['readme', 'docs/examples', 'docs/serving', 'docs/tasks']
  },
  {
    why: 'it is about the checkout or the package, not about the system',
    files: ['house', 'ground', 'docs/**', 'package']
  },
  {
    why: 'which of it can run is not sorted out yet',
    files: [
      'assets/{building,compilers,references,rendering,serving,views}/**',
      'cli/**',
      'extras/**',
      'security/**',
      'realms',
      'start'
    ]
  }
]
