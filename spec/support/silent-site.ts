// A site on a file system that reports nothing.
// oxlint-disable-next-line import/no-unassigned-import -- it replaces fs.watch
import './silent-watch.ts'
// oxlint-disable-next-line import/no-unassigned-import -- a program
import './site-process.ts'
