// Makes bcryptprimitives.dll, which Windows has had since version 7, but Wine 8 lacks: programs in Go and Rust, such as
// esbuild.exe and Rolldown's binding, need it for random bytes. It has no code, and only forwards the call to Wine's.
// Offsets are those of Microsoft's PE Format: https://learn.microsoft.com/en-us/windows/win32/debug/pe-format
const DLL = 'bcryptprimitives.dll'
const CALL = 'ProcessPrng'
/** RtlGenRandom, by the name under which advapi32.dll exports it. */
const FORWARD = 'advapi32.SystemFunction036'

const HEADERS_BYTES = 0x200
const SECTION_BYTES = 0x200
/** The position of the section in memory, from the start of the image. */
const SECTION_AT = 0x1000
const PE_AT = 0x40
const OPTIONAL_HEADER_AT = PE_AT + 24
const OPTIONAL_HEADER_BYTES = 240
const SECTION_HEADER_AT = OPTIONAL_HEADER_AT + OPTIONAL_HEADER_BYTES
const AMD64 = 0x8664
/** A DLL that may be loaded above 2 GB. */
const IMAGE_FLAGS = 0x2022
const PE32_PLUS = 0x20b
/** Initialized, readable data. */
const SECTION_FLAGS = 0x40000040

/** @returns the section, and how many of its bytes are used */
function exportSection() {
  const section = Buffer.alloc(SECTION_BYTES)
  // The directory is followed by one function, one name, and the number of the function that has it.
  const [functionAt, nameAt, numberAt, textsAt] = [40, 44, 48, 52]
  let end = textsAt
  const addText = text => {
    const at = end
    end += section.write(`${text}\0`, at, 'latin1')
    return SECTION_AT + at
  }
  section.writeUInt32LE(addText(DLL), 12)
  for (const countAt of [16, 20, 24]) section.writeUInt32LE(1, countAt)
  section.writeUInt32LE(SECTION_AT + functionAt, 28)
  section.writeUInt32LE(SECTION_AT + nameAt, 32)
  section.writeUInt32LE(SECTION_AT + numberAt, 36)
  section.writeUInt32LE(addText(FORWARD), functionAt)
  section.writeUInt32LE(addText(CALL), nameAt)
  return { section, end }
}

function headers(exportBytes) {
  const bytes = Buffer.alloc(HEADERS_BYTES)
  bytes.write('MZ')
  bytes.writeUInt32LE(PE_AT, 0x3c)
  bytes.write('PE', PE_AT)
  bytes.writeUInt16LE(AMD64, PE_AT + 4)
  bytes.writeUInt16LE(1, PE_AT + 6)
  bytes.writeUInt16LE(OPTIONAL_HEADER_BYTES, PE_AT + 20)
  bytes.writeUInt16LE(IMAGE_FLAGS, PE_AT + 22)
  const optional = bytes.subarray(OPTIONAL_HEADER_AT)
  optional.writeUInt16LE(PE32_PLUS, 0)
  optional.writeUInt32LE(SECTION_BYTES, 8)
  optional.writeBigUInt64LE(0x180000000n, 24)
  optional.writeUInt32LE(SECTION_AT, 32)
  optional.writeUInt32LE(HEADERS_BYTES, 36)
  for (const versionAt of [40, 48]) optional.writeUInt16LE(6, versionAt)
  optional.writeUInt32LE(2 * SECTION_AT, 56)
  optional.writeUInt32LE(HEADERS_BYTES, 60)
  optional.writeUInt16LE(2, 68)
  optional.writeUInt32LE(16, 108)
  optional.writeUInt32LE(SECTION_AT, 112)
  optional.writeUInt32LE(exportBytes, 116)
  const section = bytes.subarray(SECTION_HEADER_AT)
  section.write('.edata')
  for (const sizeAt of [8, 16]) section.writeUInt32LE(SECTION_BYTES, sizeAt)
  section.writeUInt32LE(SECTION_AT, 12)
  section.writeUInt32LE(HEADERS_BYTES, 20)
  section.writeUInt32LE(SECTION_FLAGS, 36)
  return bytes
}

export function randomLibrary() {
  const { section, end } = exportSection()
  return { name: DLL, bytes: Buffer.concat([headers(end), section]) }
}
