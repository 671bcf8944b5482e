// Keeps the state of React and Preact components whose module is replaced. It runs before the libraries do.

/** @typedef {Record<string, unknown>} Exports */
/**
 * A keeper keeps the state of one library's components.
 * @typedef {object} Keeper
 * @property {(type: unknown, id: string) => void} register
 * @property {() => (type: unknown, ...signature: unknown[]) => unknown} sign
 * @property {(value: any) => boolean} isComponent
 * @property {() => void} renderAgain
 */

/** @param {Keeper} keeper */
function refresh({ register, sign, isComponent, renderAgain }) {
  /** The modules that the console has reported. @type {Set<string>} */
  const told = new Set()

  /** Returns a module's exports by name, `Menu.Item` for those in an object of components. @param {Exports} exports */
  function partsOf(exports) {
    const parts = Object.entries(exports).flatMap(([name, value]) => {
      const isPlain = Object.getPrototypeOf(Object(value)) === Object.prototype
      const inside = isPlain ? Object.entries(/** @type {Exports} */ (value)) : []
      const isGroup = inside.length > 0 && inside.every(([, each]) => isComponent(each))
      return isGroup ? inside.map(([key, each]) => [`${name}.${key}`, each]) : [[name, value]]
    })
    return /** @type {Exports} */ (Object.fromEntries(parts))
  }

  /** Returns the reason why importers need the new module, too. @param {Exports} old @param {Exports} now */
  function obstacleIn(old, now) {
    const isKept = (/** @type {string} */ name) =>
      name in old && name in now && (isComponent(now[name]) || old[name] === now[name])
    const name = Object.keys({ ...old, ...now }).find(each => !isKept(each))
    return name === undefined ? undefined : `its export ${name} is new, gone or no component`
  }

  return {
    sign,
    /** @param {string} url @param {unknown} type @param {string} name */
    register: (url, type, name) => register(type, `${new URL(url).pathname} ${name}`),
    /** Returns a callback for the next version of a module. @param {string} url @param {{ invalidate(): void }} hot */
    follow(url, hot) {
      const { pathname } = new URL(url)
      /** @type {Exports} */
      let parts = {}
      /** @param {Exports} exports */
      const registered = exports => {
        const all = partsOf(exports)
        for (const [name, value] of Object.entries(all))
          if (isComponent(value)) register(value, `${pathname} export ${name}`)
        return all
      }
      // The browser reports a module that fails.
      import(url).then(exports => (parts = registered(exports)), String)
      /** @param {Exports | undefined} next */
      return next => {
        if (!next) return
        const obstacle = obstacleIn(parts, registered(next))
        if (obstacle === undefined) return renderAgain()
        if (!told.has(pathname)) console.info(`${pathname} is not replaced alone: ${obstacle}`)
        told.add(pathname)
        hot.invalidate()
      }
    }
  }
}

/** @type {any} */
// @ts-expect-error: the server writes this in front: react-refresh, or nothing if that is not installed
const runtime = fastRefresh
runtime.injectIntoGlobalHook?.(globalThis)

/** A module that is replaced imports `@prefresh/core`, which makes this. */
const prefresh = () => Reflect.get(globalThis, '__PREFRESH__')

Reflect.set(globalThis, 'koaFreshAssetsRefresh', {
  react:
    runtime.register &&
    refresh({
      register: runtime.register,
      sign: runtime.createSignatureFunctionForTransform,
      isComponent: runtime.isLikelyComponentType,
      renderAgain: runtime.performReactRefresh
    }),
  preact: refresh({
    register: (type, id) => prefresh().register(type, id),
    sign() {
      let status = 'begin'
      /** @type {unknown} */
      let first
      return (type, key, isReset, hooks) => {
        first ??= type
        status = prefresh().sign(type || first, key, isReset, hooks, status)
        return type
      }
    },
    // A context is a function, too.
    isComponent: value =>
      typeof value === 'function' && !('Provider' in value) && /^[A-Z]/.test(value.name),
    renderAgain() {
      const { computeKey, flush, getPendingUpdates, getSignature, replaceComponent } = prefresh()
      const pending = getPendingUpdates()
      flush()
      for (const [before, after] of pending) {
        const [old, now] = [before, after].map(type => getSignature(type) ?? {})
        const isOther = old.key !== now.key || computeKey(old) !== computeKey(now)
        replaceComponent(before, after, isOther || Boolean(now.forceReset))
      }
    }
  })
})
