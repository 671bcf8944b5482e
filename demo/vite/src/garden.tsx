import { lazy, Suspense, useState } from 'react'
import './garden.css'
import leaf from './leaf.svg'

// A separate chunk, with its stylesheet, which is fetched when it is first shown.
const Almanac = lazy(() => import('./almanac.tsx'))

export function Garden() {
  const [trees, setTrees] = useState(1)
  const [isOpen, setOpen] = useState(false)
  return (
    <div className="garden">
      <h2>A koa garden</h2>
      <p className="trees" role="img" aria-label={`Trees: ${trees}`}>
        {Array.from({ length: trees }, (_, number) => (
          <img key={number} src={leaf} alt="" width="40" height="40" />
        ))}
      </p>
      <p className="buttons">
        <button className="button" type="button" onClick={() => setTrees(trees + 1)}>
          Plant a tree
        </button>
        <button className="button quiet" type="button" onClick={() => setOpen(!isOpen)}>
          {isOpen ? 'Close the almanac' : 'Open the almanac'}
        </button>
      </p>
      {isOpen && (
        <Suspense fallback={<p>Fetching the almanac …</p>}>
          <Almanac trees={trees} />
        </Suspense>
      )}
    </div>
  )
}
