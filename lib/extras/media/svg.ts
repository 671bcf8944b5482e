// Reads an SVG file and writes it as an element of an HTML page, where it could run scripts and load files that an
// <img> cannot. What is not known to be harmless is refused.
import { isUtf8 } from 'node:buffer'
import {
  parseXml,
  XmlCdata,
  XmlElement,
  XmlError,
  XmlText,
  type XmlDocument,
  type XmlNode
} from '@rgrove/parse-xml'
import type { InlineSvg } from '../../runtime/urls/manifest.ts'
import { escapeHtml, writeAttribute } from '../../runtime/views/html.ts'
import { CompileError } from '../../runtime/errors.ts'

/** The bytes of a drawing; a larger one is better off as an image that browsers keep. */
const MAX_SIZE = 64 * 1024

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** The elements of SVG 2 that neither run scripts nor contain HTML. */
const ELEMENTS = words(`
  animate animateMotion animateTransform circle clipPath defs desc ellipse feBlend feColorMatrix feComponentTransfer
  feComposite feConvolveMatrix feDiffuseLighting feDisplacementMap feDistantLight feDropShadow feFlood feFuncA feFuncB
  feFuncG feFuncR feGaussianBlur feImage feMerge feMergeNode feMorphology feOffset fePointLight feSpecularLighting
  feSpotLight feTile feTurbulence filter g image line linearGradient marker mask mpath path pattern polygon polyline
  radialGradient rect set stop style svg switch symbol text textPath title tspan use view
`)
/** HTML is parsed within these (HTML, "HTML integration point"), so they may contain text alone. */
const TEXT_ONLY = words('desc title style')

const PICTURES = words('image feImage')
const RASTER = /^data:image\/(?:avif|gif|jpeg|jpg|png|webp);base64,/i
/** CSS that loads a file, or may hide by an escape that it does. */
const LOADING =
  /\\|@import|\b(?:-webkit-)?(?:cross-fade|element|image|image-set|src)\s*\(|\burl\(\s*(?!\s*["']?#)/i
/** The values of these are no CSS. */
const PLAIN = /^(?:aria-.*|class|d|data-.*|id|lang|points|role|viewbox)$/i

/** @throws CompileError with the place of what a page may not contain */
export function readSvg(bytes: Uint8Array, file: string): InlineSvg {
  const refuse = (reason: string, text = '', at?: number): never => {
    const lines = text.slice(0, at).split('\n')
    const place =
      at === undefined ? {} : { line: lines.length, column: (lines.at(-1) ?? '').length + 1 }
    throw new CompileError(`inline() refuses the file: ${reason}`, { file, ...place })
  }
  if (bytes.length > MAX_SIZE)
    return refuse(`it is larger than ${MAX_SIZE / 1024} KiB; use image() instead`)
  if (!isUtf8(bytes)) return refuse('it is not UTF-8')
  const text = new TextDecoder().decode(bytes)
  const { root } = parse(text, (reason, at) => refuse(reason, text, at))
  if (root?.name !== 'svg') return refuse('its root element is not <svg>')
  const refuseNode: Refuse = (reason, { start }) => refuse(reason, text, start)
  const attributes = Object.fromEntries(attributesOf(root, refuseNode))
  return { attributes, content: contentOf(root, refuseNode) }
}

function parse(text: string, refuse: (reason: string, at: number) => never): XmlDocument {
  try {
    return parseXml(text, { includeOffsets: true })
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    return refuse(error.message.split(' (line')[0] ?? '', error.pos)
  }
}

type Refuse = (reason: string, node: XmlNode) => never

function contentOf(element: XmlElement, refuse: Refuse): string {
  return element.children.map(child => written(child, element, refuse)).join('')
}

/** Comments, instructions and what editors keep for themselves are left out. */
function written(node: XmlNode, parent: XmlElement, refuse: Refuse): string {
  if (node instanceof XmlText || node instanceof XmlCdata) {
    if (parent.name === 'style' && LOADING.test(node.text))
      return refuse('a style loads a file, or contains a backslash', node)
    return escapeHtml(node.text)
  }
  if (!(node instanceof XmlElement)) return ''
  const { name } = node
  if (name.includes(':') || name === 'metadata') return ''
  if (!ELEMENTS.has(name)) return refuse(`it contains <${name}>`, node)
  if (TEXT_ONLY.has(parent.name)) return refuse(`<${parent.name}> contains <${name}>`, node)
  const attributes = attributesOf(node, refuse).map(([key, value]) => writeAttribute(key, value))
  const tag = attributes.join('')
  return `<${name}${tag}>${contentOf(node, refuse)}</${name}>`
}

function attributesOf(node: XmlElement, refuse: Refuse): [name: string, value: string][] {
  return Object.entries(node.attributes).filter(([name, value]) => {
    const isLink = name === 'href' || name === 'xlink:href'
    // HTML needs no namespaces, and knows no others.
    if (name.includes(':') && !isLink && !name.startsWith('xml:')) return false
    if (name === 'xmlns') return false
    if (/^on/i.test(name)) return refuse(`it has the event attribute ${name}`, node)
    if (isLink && !value.trim().startsWith('#') && !(PICTURES.has(node.name) && RASTER.test(value)))
      return refuse(`${name} leads out of the file`, node)
    if (!isLink && !PLAIN.test(name) && LOADING.test(value))
      return refuse(`${name} loads a file, or contains a backslash`, node)
    if (name === 'attributeName' && /href|^on/i.test(value))
      return refuse(`<${node.name}> changes ${value}`, node)
    return true
  })
}
