/** Whether the environment variable `NODE_ENV` is `development`, empty or not set. */
export function isDevelopment(): boolean {
  return (process.env.NODE_ENV || 'development') === 'development'
}
