// Reads the size of an image, as a browser shows it.
import { imageSize } from 'image-size'
import { errorCode } from '../../files/disk.ts'
import type { ReadImageSize } from '../../assets/parts.ts'

/** EXIF orientations from 5 on lie on their side: browsers turn such an image. */
const TURNED = 5

/** No browser shows an image with a longer side, in pixels, and a page would make room for it. */
const MAX_SIDE = 65_535

/** Only so many bytes are parsed: the time for the boxes of an AVIF grows with the square of their number. */
const BOXES = 32 * 1024

/** Returns undefined for a file that is not an image, or does not say how large it is. */
export const sizeOf: ReadImageSize = bytes => {
  const found = read(bytes)
  if (!found) return undefined
  const { orientation = 1 } = found
  const sides = [found.width, found.height]
  const [width = 0, height = 0] = orientation < TURNED ? sides : sides.toReversed()
  const isShown = (side: number) => side > 0 && side <= MAX_SIDE
  return isShown(width) && isShown(height) ? { width, height } : undefined
}

function read(bytes: Uint8Array) {
  try {
    return imageSize(isBoxed(bytes) ? bytes.subarray(0, BOXES) : bytes)
  } catch (error) {
    // The library's errors about the bytes have no code.
    if (errorCode(error) === undefined) return undefined
    throw error
  }
}

/** Files of ISO/IEC 14496-12, such as AVIF, consist of boxes. */
function isBoxed(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(4, 8)) === 'ftyp'
}
