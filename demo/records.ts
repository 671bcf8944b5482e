/** What the demo's routes answer with. It lives in memory and starts afresh with the server. */

export interface DemoRecord {
  text: string
  revision: number
  edited: Date
  /** How often a route did its whole work for this record. */
  work: number
}

export const records = {
  weather: record('Trade winds, 26 °C, a shower in the hills.'),
  timetable: record('The ferry leaves at 8, 12 and 17 o’clock.'),
  article: record('How the koa tree got its leaves.'),
  news: record('The market is open again.'),
  feed: record('Twelve new photographs.'),
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
