// What is made while NODE_ENV, or another variable, has another value: middleware looks at it when it is made.

export function within<T>(value: string | undefined, make: () => T, name = 'NODE_ENV'): T {
  const before = process.env[name]
  const set = (value: string | undefined) => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  try {
    set(value)
    return make()
  } finally {
    set(before)
  }
}

export const inDevelopment = <T>(make: () => T): T => within('development', make)
