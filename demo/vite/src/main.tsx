import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Garden } from './garden.tsx'

const place = document.querySelector('#garden')
if (!place) throw new Error('The page has no element with the id "garden".')

createRoot(place).render(
  <StrictMode>
    <Garden />
  </StrictMode>
)
