// What is made while NODE_ENV has another value: middleware looks at it when it is made.

export function within<T>(env: string | undefined, make: () => T): T {
  const before = process.env.NODE_ENV
  try {
    if (env === undefined) delete process.env.NODE_ENV
    else process.env.NODE_ENV = env
    return make()
  } finally {
    process.env.NODE_ENV = before
  }
}

export const inDevelopment = <T>(make: () => T): T => within('development', make)
