import './almanac.css'

/** The wood is good for a canoe once there are a few trees. */
export default function Almanac({ trees }: { readonly trees: number }) {
  const advice = trees < 5 ? 'Plant more before you build a canoe.' : 'Enough wood for a canoe.'
  return <p className="almanac">{advice}</p>
}
