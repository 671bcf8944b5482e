// The size of an image, as a browser shows it.
import { imageSize } from 'image-size'
import { errorCode } from '../../files/disk.ts'
import type { Measure } from '../../assets/parts.ts'

/** Of EXIF, from which on an image lies on its side: browsers turn it. */
const TURNED = 5

/** Undefined for what is no image, or does not say how large it is. */
export const sizeOf: Measure = bytes => {
  const found = read(bytes)
  if (!found) return undefined
  const { orientation = 1 } = found
  const sides = [found.width, found.height]
  const [width = 0, height = 0] = orientation < TURNED ? sides : sides.toReversed()
  return width > 0 && height > 0 ? { width, height } : undefined
}

function read(bytes: Uint8Array) {
  try {
    return imageSize(bytes)
  } catch (error) {
    // What the library throws about the bytes has no code.
    if (errorCode(error) === undefined) return undefined
    throw error
  }
}
