// Tags of images, films and sounds in pages.
import type { Extra } from '../../assets/parts.ts'
import { HELPERS } from './media.ts'

export const media: Extra = { name: 'media', run: () => ({ helpers: HELPERS }) }
