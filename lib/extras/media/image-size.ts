// The size of an image, as a browser shows it.
import { imageSize } from 'image-size'
import { errorCode } from '../../files/disk.ts'
import type { ReadImageSize } from '../../assets/parts.ts'

/** Of EXIF, from which on an image lies on its side: browsers turn it. */
const TURNED = 5

/** In pixels. No browser shows a larger one, and a page would make room for it. */
const MAX_SIDE = 65_535

/** In bytes. The time for the boxes of an AVIF grows with the square of their number. */
const BOXES = 32 * 1024

/** Undefined for what is no image, or does not say how large it is. */
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
    // What the library throws about the bytes has no code.
    if (errorCode(error) === undefined) return undefined
    throw error
  }
}

/** Whether it begins as a file of ISO/IEC 14496-12. */
function isBoxed(bytes: Uint8Array): boolean {
  return String.fromCharCode(...bytes.subarray(4, 8)) === 'ftyp'
}
