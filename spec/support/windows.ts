// What Windows has otherwise.
export const isWindows = process.platform === 'win32'

/** The modes of what is published. Windows knows only whether a file may be written. */
export const FILE_MODE = isWindows ? 0o666 : 0o644
export const FOLDER_MODE = isWindows ? 0o666 : 0o755

/** NTFS takes none of these into a name. */
const UNWRITABLE = /[<>:"|?*\\]/

export function isWritable(name: string): boolean {
  return !(isWindows && UNWRITABLE.test(name))
}
