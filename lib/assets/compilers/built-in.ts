// From an extension to the compiler that understands it. The built-in ones are optional peers.
import type { Compiler, CompilerInput } from './compiler.ts'
import { compileLess } from './less.ts'
import { compileSass } from './sass.ts'
import { compileScript } from './esbuild.ts'
import { loadPeer, type Load } from './peers.ts'

/** The compilers that need no configuration. `load` is a parameter so that a missing peer can be shown. */
export function makeBuiltInCompilers(load: Load = loadPeer): readonly Compiler[] {
  return [
    { extensions: '.scss', target: '.css', compile: input => compileSass(load, input, 'scss') },
    { extensions: '.sass', target: '.css', compile: input => compileSass(load, input, 'indented') },
    { extensions: '.less', target: '.css', compile: input => compileLess(load, input) },
    ...(['ts', 'tsx', 'jsx'] as const).map(loader => ({
      extensions: `.${loader}`,
      target: '.js',
      compile: (input: CompilerInput) => compileScript(load, input, loader)
    }))
  ]
}

export const builtInCompilers = makeBuiltInCompilers()
