/** The notes of /caching/notes. With NOTES_FILE, several processes share them, as they would a database. */
import { readFile, rename, writeFile } from 'node:fs/promises'

export interface Note {
  readonly text: string
  readonly revision: number
}

const file = process.env.NOTES_FILE

let kept: readonly Note[] = ['Mangoes', 'Coffee', 'Rice'].map(text => ({ text, revision: 1 }))

export async function readNotes(): Promise<readonly Note[]> {
  if (!file) return kept
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Note[]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return kept
  }
}

/** Edits at the same time may overwrite each other, as this is not a database. */
export async function editNote(at: number, text: string): Promise<void> {
  const notes = await readNotes()
  kept = notes.map((note, index) => (index === at ? { text, revision: note.revision + 1 } : note))
  if (!file) return
  const draft = `${file}.${process.pid}`
  await writeFile(draft, JSON.stringify(kept))
  await rename(draft, file)
}
