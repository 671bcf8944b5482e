// Reads the size at which a browser shows an image.
import { imageSize } from 'image-size'
import { errorCode } from '../../runtime/files/disk.ts'
import type { ImageSize } from '../../runtime/urls/manifest.ts'

/** From this EXIF orientation on, an image lies on its side: browsers turn it. */
const TURNED = 5

/** No browser shows an image with a longer side, in pixels, and a page would make room for it. */
const MAX_SIDE = 65_535

// These limit how much of a file is parsed, as crafted ones would delay each page that names them.

/** The bytes that are read for boxes: the time for those of an AVIF grows with the square of their number. */
const BOXES = 32 * 1024
/** The bytes of other formats, which begin with their size; the library rejects an SVG whose root tag ends later. */
const OTHERS = 1000
/** The steps from one segment of a JPEG to the next, or over one byte between them. */
const JPEG_STEPS = 1000

export function sizeOf(bytes: Uint8Array): ImageSize | undefined {
  const found = read(bytes)
  if (!found) return undefined
  const { orientation = 1 } = found
  const sides = [found.width, found.height]
  const [width = 0, height = 0] = orientation < TURNED ? sides : sides.toReversed()
  const isShown = (side: number) => side > 0 && side <= MAX_SIDE
  return isShown(width) && isShown(height) ? { width, height } : undefined
}

function read(bytes: Uint8Array) {
  const isJpeg = bytes[0] === 0xff && bytes[1] === 0xd8
  // Files of ISO/IEC 14496-12, such as AVIF, consist of boxes.
  const isBoxed = String.fromCharCode(...bytes.subarray(4, 8)) === 'ftyp'
  try {
    if (isJpeg) return hasSizeSoon(bytes) ? imageSize(bytes) : undefined
    return imageSize(bytes.subarray(0, isBoxed ? BOXES : OTHERS))
  } catch (error) {
    // The library's errors about the bytes have no code.
    if (errorCode(error) === undefined) return undefined
    throw error
  }
}

const START_OF_FRAME: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2])

/** Steps through a JPEG as the library does. */
function hasSizeSoon(bytes: Uint8Array): boolean {
  let at = 4
  for (let step = 0; step < JPEG_STEPS && at < bytes.length; step++) {
    const next = at + ((bytes[at] ?? 0) << 8) + (bytes[at + 1] ?? 0)
    if (bytes[next] === 0xff && START_OF_FRAME.has(bytes[next + 1] ?? 0)) return true
    at = bytes[next] === 0xff ? next + 2 : at + 1
  }
  return false
}
