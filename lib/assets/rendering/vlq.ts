// The numbers in a source map (ECMA-426 section 9): five bits in each digit, the lowest first, and the
// sign in the lowest of them.
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

export function readVlq(text: string): { value: number; length: number } {
  let [bits, length, digit] = [0, 0, 0]
  do {
    digit = DIGITS.indexOf(text[length] ?? 'A')
    bits += (digit & 31) * 32 ** length++
  } while (digit >= 32)
  const value = Math.floor(bits / 2)
  return { value: bits % 2 === 1 ? -value : value, length }
}

export function writeVlq(value: number): string {
  let bits = Math.abs(value) * 2 + (value < 0 ? 1 : 0)
  let text = ''
  do {
    const rest = Math.floor(bits / 32)
    text += DIGITS[(bits % 32) + (rest > 0 ? 32 : 0)]
    bits = rest
  } while (bits > 0)
  return text
}
