// Images without pixels: what of a file says how large it is.

/** 40 wide and 30 high, in each format. */
export const IMAGES = {
  'a.png': png(40, 30),
  'a.gif': bytes('474946383961 2800 1e00 000000'),
  'a.jpg': jpeg(),
  'a.webp': bytes('52494646 1e000000 57454250 56503858 0a000000 00000000 270000 1d0000'),
  'a.avif': avif(),
  'a.jxl': bytes(`ff0a e8004e00 ${'00'.repeat(16)}`),
  'a.svg': '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30px"/>',
  'box.svg': '<?xml version="1.0"?>\n<svg viewBox="0 0 40 30"><path d="M0 0"/></svg>'
} as const

export function png(width: number, height: number): Uint8Array {
  const size = Buffer.alloc(8)
  size.writeUInt32BE(width)
  size.writeUInt32BE(height, 4)
  return Buffer.concat([bytes('89504e470d0a1a0a 0000000d 49484452'), size, bytes('0806000000')])
}

/** @param orientation of EXIF */
export function jpeg(orientation?: number): Uint8Array {
  const frame = 'ffc0 0011 08 001e 0028 03 011100021100031100 ffd9'
  if (orientation === undefined) return bytes(`ffd8 ffe0 0004 0000 ${frame}`)
  const entry = `0112 0003 00000001 ${orientation.toString(16).padStart(4, '0')} 0000`
  const exif = `457869660000 4d4d002a00000008 0001 ${entry} 00000000`
  return bytes(`ffd8 ffe1 0022 ${exif} ${frame}`)
}

/** @param sizes how many times it says its size */
export function avif(sizes = 1): Uint8Array {
  const size = box('ispe', bytes('00000000 00000028 0000001e'))
  const properties = box('iprp', box('ipco', ...Array.from({ length: sizes }, () => size)))
  const meta = box('meta', bytes('00000000'), box('pitm', bytes('00000000 0001')), properties)
  return Buffer.concat([box('ftyp', Buffer.from('avif\0\0\0\0avifmif1')), meta])
}

function box(type: string, ...content: readonly Uint8Array[]): Uint8Array {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(8 + content.reduce((sum, { length }) => sum + length, 0))
  head.write(type, 4)
  return Buffer.concat([head, ...content])
}

function bytes(hex: string): Uint8Array {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex')
}
