// Writes an SVG file as an element of a page, where it could run scripts and load files, so only harmless parts.
import { isUtf8 } from 'node:buffer'
import { tokenize, TokenType } from '@csstools/css-tokenizer'
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

/** The limit in bytes; a larger drawing is better used as an image, which browsers cache. */
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
/** HTML is parsed within these (HTML, "HTML integration point"), so they may contain only text. */
const TEXT_ONLY = words('desc title style')

/** The attributes, in lower case, as HTML compares them; none of them loads a file or runs a script. */
const ATTRIBUTES = words(`
  accumulate additive alignment-baseline amplitude attributename attributetype azimuth basefrequency baseline-shift
  baseprofile begin bias by cached calcmode class clip clip-path clip-rule clippathunits color color-interpolation
  color-interpolation-filters color-rendering content contentscripttype contentstyletype cursor cx cy d
  diffuseconstant direction display divisor dominant-baseline dur dx dy edgemode elevation enable-background end
  exponent export-id externalresourcesrequired fill fill-opacity fill-rule filter filterunits flood-color
  flood-opacity focusable font font-family font-feature-settings font-kerning font-size font-size-adjust font-stretch
  font-style font-variant font-variant-ligatures font-variation-settings font-weight fr from fx fy
  glyph-orientation-horizontal glyph-orientation-vertical gradienttransform gradientunits height host id
  image-rendering in in2 inline-size intercept isolation k1 k2 k3 k4 kernelmatrix kernelunitlength kerning keypoints
  keysplines keytimes lang lengthadjust letter-spacing lighting-color limitingconeangle line-height marker marker-end
  marker-mid marker-start markerheight markerunits markerwidth mask mask-type maskcontentunits maskunits max media
  method min mix-blend-mode mode name numoctaves offset opacity operator order orient origin overflow p-id paint-order
  path pathlength patterncontentunits patterntransform patternunits pointer-events points pointsatx pointsaty
  pointsatz preservealpha preserveaspectratio primitiveunits project-id r radius refx refy repeatcount repeatdur
  requiredextensions requiredfeatures restart result role rotate rx ry scale seed shape-inside shape-margin
  shape-padding shape-rendering shape-subtract side slope spacing specularconstant specularexponent spreadmethod
  startoffset stddeviation stitchtiles stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset
  stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width style surfacescale systemlanguage t
  tabindex tablevalues targetx targety text-align text-anchor text-decoration text-overflow text-rendering textlength
  title to transform transform-box transform-origin type unicode-bidi values vector-effect version viewbox visibility
  white-space width word-spacing writing-mode x x1 x2 xchannelselector xml:lang xml:space y y1 y2 ychannelselector z
  zoomandpan
`)
/** The attributes whose values are not CSS. */
const PLAIN = /^(?:aria-.*|begin|class|data-.*|end|id|lang|role|title|xml:lang)$/

const PICTURES = words('image feImage')
const RASTER = /^data:image\/(?:avif|gif|jpeg|jpg|png|webp);base64,/i

/** The functions of CSS that load nothing: in values, selectors and conditions. `url()` is checked separately. */
const FUNCTIONS = words(`
  abs acos asin atan atan2 calc clamp cos exp hypot log max min mod pow rem round sign sin sqrt tan
  color color-mix device-cmyk hsl hsla hwb icc-color lab lch light-dark oklab oklch rgb rgba
  conic-gradient linear-gradient radial-gradient repeating-conic-gradient repeating-linear-gradient
  repeating-radial-gradient
  blur brightness contrast drop-shadow grayscale hue-rotate invert opacity saturate sepia
  matrix matrix3d perspective rotate rotate3d rotatex rotatey rotatez scale scale3d scalex scaley scalez skew skewx skewy
  translate translate3d translatex translatey translatez
  circle ellipse inset path polygon ray rect shape xywh
  cubic-bezier env linear steps var
  dir has is lang not nth-child nth-last-child nth-last-of-type nth-of-type where
  selector
`)
const AT_RULES = words(`container keyframes layer media starting-style supports
  -moz-keyframes -o-keyframes -webkit-keyframes`)

/** Browsers flatten elements that are nested too deeply, Chromium at 512. */
const MAX_DEPTH = 100

/** @throws CompileError with the place of anything that a page may not contain */
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
    if (error instanceof RangeError) return refuse('its elements are nested too deeply', 0)
    if (!(error instanceof XmlError)) throw error
    return refuse(error.message.split(' (line')[0] ?? '', error.pos)
  }
}

type Refuse = (reason: string, node: XmlNode) => never

function contentOf(element: XmlElement, refuse: Refuse, depth = 0): string {
  if (depth > MAX_DEPTH) return refuse('its elements are nested too deeply', element)
  const children = element.children.map(child => written(child, element, refuse, depth))
  const text = children.join('')
  if (element.name !== 'style') return text
  // The text is checked as it is written, without the nodes that stood between its parts.
  const reason = cssFault(element.text)
  return reason === undefined ? escapeHtml(element.text) : refuse(`a style ${reason}`, element)
}

/** Writes a node; comments, instructions and the private data of editors are left out. */
function written(node: XmlNode, parent: XmlElement, refuse: Refuse, depth: number): string {
  if (node instanceof XmlText || node instanceof XmlCdata) return escapeHtml(node.text)
  if (!(node instanceof XmlElement)) return ''
  const { name } = node
  if (TEXT_ONLY.has(parent.name)) return refuse(`<${parent.name}> contains <${name}>`, node)
  if (name.includes(':') || name === 'metadata') return ''
  if (!ELEMENTS.has(name)) return refuse(`it contains <${name}>`, node)
  const attributes = attributesOf(node, refuse).map(([key, value]) => writeAttribute(key, value))
  return `<${name}${attributes.join('')}>${contentOf(node, refuse, depth + 1)}</${name}>`
}

function attributesOf(node: XmlElement, refuse: Refuse): [name: string, value: string][] {
  return Object.entries(node.attributes).filter(([written, value]) => {
    // HTML compares names case-insensitively.
    const name = written.toLowerCase()
    const isLink = name === 'href' || name === 'xlink:href'
    if (isLink) {
      const isInside = value.trim().startsWith('#')
      if (isInside || (PICTURES.has(node.name) && RASTER.test(value))) return true
      return refuse(`${written} leads out of the file`, node)
    }
    const isPlain = PLAIN.test(name)
    if (!isPlain && !ATTRIBUTES.has(name)) {
      // HTML needs no namespace declarations, and knows no other namespaces.
      if (name === 'xmlns' || name.includes(':')) return false
      return refuse(`it has the attribute ${written}, which is not an SVG attribute`, node)
    }
    if (name === 'attributename' && !ATTRIBUTES.has(value.trim().toLowerCase()))
      return refuse(`<${node.name}> changes ${value}`, node)
    // The parts of this list are read separately: a quote or a comment does not continue after a semicolon.
    const texts = name === 'values' ? value.split(';') : [value]
    const faults = isPlain ? [] : texts.filter(text => text.includes('(')).map(cssFault)
    const reason = faults.find(Boolean)
    return reason === undefined || refuse(`${written} ${reason}`, node)
  })
}

/** Returns the first part of CSS that is not known to be harmless (CSS Syntax 3), with escapes resolved. */
function cssFault(css: string): string | undefined {
  let isInUrl = false
  for (const token of tokenize({ css })) {
    const [type] = token
    if (type === TokenType.Function) {
      const name = token[4].value.toLowerCase()
      isInUrl = name === 'url'
      if (!isInUrl && !FUNCTIONS.has(name)) return `uses ${name}()`
    } else if (type === TokenType.AtKeyword) {
      const rule = token[4].value.toLowerCase()
      if (!AT_RULES.has(rule)) return `uses @${rule}`
    } else if (type === TokenType.URL || (isInUrl && type === TokenType.String)) {
      isInUrl = false
      if (!token[4].value.startsWith('#')) return 'loads a file'
    } else if (type === TokenType.BadURL || type === TokenType.BadString) return 'is not CSS'
    else if (isInUrl && type !== TokenType.Whitespace && type !== TokenType.Comment)
      return 'loads a file'
  }
  return undefined
}
