// Writes HTML: everything that is put into a template is escaped, unless it was made by a template itself.
import { printableLines } from '../../../../printable.ts'
import { escapeHtml } from '../../../views/html.ts'

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | Html | false | undefined | readonly Value[]

/** `false` and `undefined` write nothing. Control characters in names are shown, not obeyed. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: parts }, ...values.map(written)))
}

function written(value: Value): string {
  if (value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map(written).join('')
  return escapeHtml(printableLines(String(value)))
}
