/** The words of a text. */
export const words = (text: string): string[] => text.trim().split(/\s+/)
