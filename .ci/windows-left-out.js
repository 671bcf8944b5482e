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
    titles: [
      'PUB-19 under umask 077 a web server can read*',
      'a precompile that lost its lock while it was paused replaces nothing',
      'a file that cannot be written is named with the reason*',
      'a public directory without write permission is an error that says so',
      'FPR-17 until everything is written, SIGKILL leaves*',
      'FPR-17 a signal that comes while plain names are replaced*',
      'a lock that is free: whichever call*',
      'a lock that was abandoned: whichever call*'
    ]
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
      'HLT-12a links are followed, also in a cycle',
      'SET-07 SET-08 sources of the top level*',
      'MNT-03 S53 a mount or a public that would expose the project is an error at start*'
    ]
  },
  {
    why: 'NTFS has no such names, or takes two of them for one',
    titles: [
      'FPR-05 a name that cannot be requested is an error that states the reason*',
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
      'what cannot be written leaves the old target, and no temporary file',
      'FPR-05 precompile publishes every asset of every app and third party under both names',
      'FILE-01 what a system refuses is passed over by precompile and on request, and told once*',
      'FILE-02 nothing else is passed over*',
      'a public that becomes a file is a 500 with the reason',
      'a directory where the target belongs is a 500 that names it*',
      'what cannot be read or written is a 500 that names it, until it can be*',
      'S73 what the process may not read in a mount or public is a 404*'
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
      'assets/building/*/**',
      'assets/{compilers,references,rendering,serving,views}/**',
      'cli/**',
      'extras/**',
      'security/**',
      'realms',
      'start'
    ]
  }
]
