// oxlint-disable-next-line typescript/triple-slash-reference -- users name it in tsconfig.json
/// <reference path="../../client.d.cts" />
/** What scripts for browsers know of their environment. Checked by `tsc -p spec/types`, never run. */
declare global {
  interface ImportMetaEnv {
    VITE_API?: string
  }
}

const { MODE, DEV, PROD, VITE_API } = import.meta.env
export const known: readonly [string, boolean, string | undefined] = [MODE, DEV && !PROD, VITE_API]

// @ts-expect-error: it is declared nowhere
export const none: unknown = import.meta.env.NONE
