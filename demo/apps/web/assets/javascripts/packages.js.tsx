/** A React component. React is CommonJS, and no bundler is configured: the option `packages` names it. */
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'

interface Fetched {
  readonly path: string
  readonly bytes: number
  readonly isStored: boolean
}

/** Returns what the browser has fetched for this page, as it comes in. */
function useFetched(): readonly Fetched[] {
  const [fetched, setFetched] = useState(listFetched)
  useEffect(() => {
    const observer = new PerformanceObserver(() => setFetched(listFetched))
    observer.observe({ type: 'resource' })
    return () => observer.disconnect()
  }, [])
  return fetched
}

function listFetched(): readonly Fetched[] {
  const entries = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  return entries.map(({ name, encodedBodySize, transferSize }) => ({
    path: new URL(name).pathname,
    bytes: encodedBodySize,
    isStored: transferSize === 0
  }))
}

/** Modules of packages are below `npm/`, including joined ones. */
const isOfPackage = (path: string) => /\/(?:npm|joined)\//.test(path)

function FetchedFiles() {
  const [isLimited, setLimited] = useState(false)
  const fetched = useFetched()
  const shown = isLimited ? fetched.filter(({ path }) => isOfPackage(path)) : fetched
  const sum = shown.reduce((total, { bytes }) => total + bytes, 0)
  return (
    <>
      <p className="buttons">
        <button className="button quiet" type="button" onClick={() => setLimited(!isLimited)}>
          {isLimited ? 'Show all files' : 'Show packages only'}
        </button>
        <output>
          {shown.length} files, {sum.toLocaleString('en')} bytes
        </output>
      </p>
      <table className="sheet">
        <thead>
          <tr>
            <th scope="col">File</th>
            <th scope="col">Bytes</th>
            <th scope="col">From</th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ path, bytes, isStored }, at) => (
            <tr key={at}>
              <th scope="row">
                <code>{path}</code>
              </th>
              <td data-label="Bytes">{bytes.toLocaleString('en')}</td>
              <td data-label="From">{isStored ? 'cache' : 'server'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const place = document.querySelector('#fetched')
if (place) createRoot(place).render(<FetchedFiles />)
