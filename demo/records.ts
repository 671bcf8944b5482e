/** The records that the demo's routes send. They are kept in memory and reset when the server restarts. */

export interface DemoRecord {
  text: string
  revision: number
  edited: Date
  /** The number of times that a route did its work for this record. */
  work: number
}

export const records = {
  weather: record('Trade winds, 26 °C, a shower in the hills.'),
  timetable: record('The ferry leaves at 8:00, 12:00 and 17:00.'),
  article: record('How the koa tree got its leaves.'),
  news: record('The market is open again.'),
  feed: record('Twelve new photos.'),
  note: record('Bring mangoes to the meeting.')
}

export function edit(edited: DemoRecord, text = edited.text): void {
  edited.text = text
  edited.revision += 1
  edited.edited = new Date()
}

function record(text: string): DemoRecord {
  return { text, revision: 1, edited: new Date(), work: 0 }
}
