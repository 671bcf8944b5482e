// What specs wait for at their top. .ci/rooms.js has it imported before the specs of a room, which AVA needs at once.
import { allCommands } from '../../lib/publishing/cli/arguments.ts'
import { loadModuleLexer } from '../../lib/publishing/references/modules.ts'

export const COMMANDS = await allCommands()
export const lexer = await loadModuleLexer()
