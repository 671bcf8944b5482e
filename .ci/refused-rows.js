// The rows of the lane refused: which calls are refused, or how coarse stamps are, which specs are run, and which are
// not, by a part of their titles, with the reason.
import { constants } from 'node:os'

const { EACCES, EINVAL, ENOSPC, ENOSYS, ENOTSUP, EPERM } = constants.errno

const PUBLISHING = ['publishing/building/*', 'extras/releases/*']
// The only other spec of commands that writes is `faults`, which refuses calls by itself.
const COMMANDS = [...PUBLISHING, 'publishing/cli/commands']
const WRITING = ['runtime/files/{disk,refusals}', 'publishing/writing/*', ...COMMANDS]
const READING = [
  ...['runtime/files/{paths,without-proc}', 'runtime/serving/{files,index-files,serving}'],
  'extras/routes/send-file',
  ...['security/links', 'security/paths', 'security/replaced', 'security/copies']
]
const LIVE = ['extras/live/{builds-and-icons,channel}']
const COARSE = [
  ...['runtime/files/{clock,paths,refusals}', 'publishing/{sources,writing}/*'],
  ...[...PUBLISHING, ...LIVE, 'extras/live/page-digest']
]
const WATCHING = ['publishing/sources/*', 'publishing/building/{edits,publishing}', ...LIVE]

const WITHOUT_MODES = {
  'with its folders and mode 0644': 'its claim is about modes',
  'under umask 077': 'its claim is about modes',
  'get a plain and a fingerprinted name': 'its claim is about modes too',
  'a deploy of public without the sources keeps the URLs':
    'it copies a tree with cpSync, which sets modes'
}
const WITHOUT_TIMES = {
  'every mtime since 1970': 'its claim is about the mtime that was asked for'
}
const WITHIN_A_TICK = {
  'a page is told about a build once':
    'it makes two builds of the same names and sizes within one tick, which is one for the disk',
  'clean counts from when a file was published': 'its deploys are within one tick'
}
const WITHOUT_EVENTS = {
  'with and without file system events': 'its claim is about events',
  ': the next change is reported': 'its claim is about events'
}
/** lowntfs-3g lists names in lower case, unlike Windows and macOS, and NTFS has neither all names nor modes. */
const LOWERED = 'it reads names with capitals from a folder'
const NO_MODES = 'every file there has mode 0777'
const NO_BYTES = 'its names are no UTF-8, which NTFS refuses'

export const ROWS = {
  chmod: { refused: { chmod: EPERM }, specs: WRITING, umask: 0o077, without: WITHOUT_MODES },
  utimes: {
    refused: { utimes: EPERM },
    specs: [...WRITING, 'runtime/urls/*'],
    without: WITHOUT_TIMES
  },
  'fsync-folder': { refused: { 'fsync-folder': EPERM }, specs: COMMANDS },
  /** On FAT stamps are coarse as well. */
  'all-of-these': {
    refused: {
      ...{ chmod: ENOSYS, utimes: ENOTSUP },
      ...{ 'fsync-folder': EINVAL, 'fsync-file': ENOTSUP }
    },
    seconds: 2,
    specs: [...WRITING, ...COARSE],
    umask: 0o077,
    without: {
      ...{ ...WITHOUT_MODES, ...WITHOUT_TIMES, ...WITHIN_A_TICK },
      'two sources with one name': 'it counts warnings, of which a refusal is one more'
    }
  },
  readlink: {
    refused: { 'readlink-descriptor': EACCES },
    specs: READING,
    without: {
      'removes nothing through a folder that becomes a link':
        'of compress it expects an error, which ends without one as it finds no file in a folder that became a link',
      'whenever it is looked at is a 200':
        'a file is judged by its name, which the spec gives to another one at each look'
    }
  },
  inotify: { refused: { inotify_init: ENOSYS }, specs: WATCHING, without: WITHOUT_EVENTS },
  watches: { refused: { inotify_add_watch: ENOSPC }, specs: LIVE, without: WITHOUT_EVENTS },
  'even-seconds': {
    seconds: 2,
    specs: COARSE,
    without: { ...WITHOUT_TIMES, ...WITHIN_A_TICK }
  },
  'ignored-case': {
    disk: 'ignore_case',
    specs: ['runtime/files/*', 'publishing/{sources,building}/*', 'publishing/cli/commands'],
    without: {
      'print names with escapes': LOWERED,
      'names that differ only in case are two names': LOWERED,
      'whose accents macOS has stored decomposed': LOWERED,
      'whose names differ only in how accents are written': LOWERED,
      'that has both spellings, as on macOS': LOWERED,
      'a name with any characters is served': LOWERED,
      'a name that a browser requests in vain is logged': LOWERED,
      'names that are not valid in a request': NO_BYTES,
      'get a plain and a fingerprinted name': NO_MODES,
      'under umask 077': NO_MODES,
      'is unmodified while only its names change': 'a hard link there is another inode'
    }
  }
}
