// The page about one asset, or about a path that is none.
import type { AssetReport } from './asset.ts'
import type { Row } from './overview.ts'
import { assetLink, bytes, code, html, layout, list, state, table, type Html } from './layout.ts'

export function assetPage(report: AssetReport): string {
  const { asset, asked, explanation } = report
  const title = asset?.path ?? asked
  return layout(
    title,
    'asset',
    html`<h1 class="path">${title}</h1>
      <p class="note"><a href="asset?path=${encodeURIComponent(asked)}&amp;json">JSON</a></p>
      ${asset && summary(report, asset)} ${failure(report)}
      <h2>How it is resolved</h2>
      <ol class="steps">
        ${explanation.steps.map(
          ({ subject, finding, details }) =>
            html`<li><strong>${subject}</strong> ${finding}${list(details)}</li> `
        )}
      </ol>
      <p class="outcome"><strong>GET ${explanation.path}</strong> ${explanation.outcome}</p>
      ${representations(report)} ${texts(report)} `
  )
}

function summary({ took, dependencies, failure }: AssetReport, asset: Row): Html {
  const { path, url, state: name, sizes, problems, ambiguous, digest } = asset
  const inCode = (text: string) => html`<code>${text}</code>`
  const codes = (texts: readonly string[]) => list(texts.map(inCode))
  const links = (paths: readonly string[]) => list(paths.map(path => assetLink(path)))
  const isIn = took?.compile === undefined ? '' : `, ${took.compile.toFixed(1)} ms of it compiling`
  const all = Object.entries(sizes).map(([coding, size]) => `${coding} ${bytes(size)}`)
  const facts: Record<string, Html | string | false | undefined> = {
    State: state(name),
    App: asset.app,
    Source: inCode(asset.source),
    'Also made of': codes(dependencies),
    Target: asset.target !== undefined && inCode(asset.target),
    'Pages ask for': html`<a href="${url}">${url}</a>`,
    Digest: digest !== undefined && inCode(digest),
    Size: all.join(', '),
    'Published in': took && `${took.publish.toFixed(1)} ms${isIn}`,
    'Also found as': codes(asset.tails),
    'Ambiguous, so not found as': codes(ambiguous),
    Hides: codes(asset.shadowed),
    'Refers to': links(asset.refersTo),
    'Referred to by': links(asset.referredBy)
  }
  const others = problems.filter(({ message }) => !failure || !message.includes(failure.reason))
  return html`${asset.isImage && html`<p class="picture"><img src="image?path=${encodeURIComponent(path)}" alt="the image itself" /></p>`}
    ${others.map(({ message }) => html`<p class="problem">${message}</p>`)}
    <dl class="facts">
      ${Object.entries(facts).map(
        ([name, value]) =>
          value &&
          html`<dt>${name}</dt>
            <dd>${value}</dd> `
      )}
    </dl>`
}

function failure({ failure }: AssetReport): Html | undefined {
  if (!failure) return undefined
  const { title, location, reason, excerpt } = failure
  return html`<section class="failure" aria-label="Error">
    <h2>${title}</h2>
    ${location !== '' && html`<p><code>${location}</code></p>`}
    <p>${reason}</p>
    ${excerpt !== '' && html`<pre tabindex="0" role="region" aria-label="The place of the error">${excerpt}</pre>`}
  </section>`
}

function representations({ representations }: AssetReport): Html | false {
  if (representations.length === 0) return false
  return html`<h2>Representations</h2>
    ${representations.map(({ coding, size, headers }) => {
      const caption = html`<caption>
        ${coding}, ${bytes(size)}
      </caption>`
      const rows = headers.map(({ name, value, reason }) => [
        name,
        html`<code>${value}</code>`,
        reason
      ])
      return table('headers', caption, ['Field', 'Value', 'Why'], rows)
    })}`
}

function texts({ texts: { source, compiled, published } }: AssetReport): Html | false {
  if (!source && !compiled && !published) return false
  if (source && !compiled && source.text === published?.text) {
    return html`<h2>Text</h2>
      ${code('Source, published unchanged', source)}`
  }
  return html`<h2>Texts</h2>
    <div class="texts">
      ${source && code('Source', source)} ${compiled && code('Compiled', compiled)}
      ${published && code('Published', published)}
    </div>`
}
