// What the commands of a deployment do, for programs: the public functions of this room.
export {
  precompile,
  PrecompileError,
  type PrecompileOptions,
  type PrecompileReport,
  type Progress
} from './precompile.ts'
export type { DeltaReport, DeltaSavings } from './deltas/deltas.ts'
export {
  verify,
  verifyCopies,
  type VerifyCopiesReport,
  type VerifyProblem,
  type VerifyReport
} from './verify.ts'
export {
  compress,
  type CodingReport,
  type CompressOptions,
  type CompressProgress,
  type CompressReport
} from './copies/compress.ts'
export { clean, type CleanOptions, type CleanReport } from './clean.ts'
