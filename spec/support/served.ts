// The files of public as serving holds them, without a server.
import { Directories } from '../../lib/runtime/serving/directories.ts'
import type { ServedFiles } from '../../lib/runtime/serving/files.ts'
import type { Project } from '../../lib/runtime/app/extra.ts'

export function publicFilesOf(settings: Project): ServedFiles {
  return new Directories(settings, { isOrdinary: async () => true, isHashed: () => false }).public
}
