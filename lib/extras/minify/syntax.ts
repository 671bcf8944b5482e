// Lists syntax that esbuild leaves as it is written, whatever the target.

const each = (...names: readonly string[]) => Object.fromEntries(names.map(name => [name, true]))

/** In their place it would write no module, a wrong request, or colors that older browsers do not know either. */
export const KEPT = each(
  ...['dynamic-import', 'gradient-interpolation', 'import-assertions', 'import-attributes'],
  'import-meta'
)

/** These cannot be lowered: where the target lacks them, they are errors. */
export const LEFT = {
  ...KEPT,
  ...each(
    ...['arbitrary-module-namespace-names', 'array-spread', 'arrow', 'class', 'const-and-let'],
    ...['default-argument', 'destructuring'],
    ...['for-of', 'generator', 'new-target', 'object-extensions', 'rest-argument'],
    'top-level-await'
  )
}
