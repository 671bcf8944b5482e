// The page about one asset, or about a path that is none.
import type { AssetReport } from '../asset.ts'
import type { Row } from '../overview.ts'
import { html, type Html } from './html.ts'
import { assetLink, bytes, code, layout, state } from './layout.ts'

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
            html`<li>
              <strong>${subject}</strong> ${finding}${
                details.length > 0 &&
                html`<ul>
                  ${details.map(detail => html`<li>${detail}</li>`)}
                </ul>`
              }
            </li> `
        )}
      </ol>
      <p class="outcome"><strong>GET ${explanation.path}</strong> ${explanation.outcome}</p>
      ${representations(report)} ${texts(report)} `
  )
}

function summary({ took, dependencies, failure }: AssetReport, asset: Row): Html {
  const { path, url, app, source, target, digest, sizes, problems } = asset
  const fact = (name: string, value: Html | string | false | undefined) =>
    value !== undefined &&
    value !== false &&
    value !== '' &&
    html`<dt>${name}</dt>
      <dd>${value}</dd> `
  const all = Object.entries(sizes).map(([coding, size]) => `${coding} ${bytes(size)}`)
  const others = problems.filter(({ message }) => !failure || !message.includes(failure.reason))
  const seconds = (milliseconds: number) => `${milliseconds.toFixed(1)} ms`
  return html`${asset.isImage && html`<p class="picture"><img src="image?path=${encodeURIComponent(path)}" alt="the image itself" /></p>`}
    ${others.map(({ message }) => html`<p class="problem">${message}</p>`)}
    <dl class="facts">
      ${fact('State', state(asset.state))}${fact('App', app)}${fact('Source', html`<code>${source}</code>`)}${fact(
        'Also made of',
        list(dependencies)
      )}${fact('Target', target !== undefined && html`<code>${target}</code>`)}${fact(
        'Pages ask for',
        html`<a href="${url}">${url}</a>`
      )}${fact('Digest', digest !== undefined && html`<code>${digest}</code>`)}${fact('Size', all.join(', '))}${fact(
        'Published in',
        took &&
          `${seconds(took.publish)}${took.compile === undefined ? '' : `, ${seconds(took.compile)} of it compiling`}`
      )}${fact('Also found as', list(asset.tails))}${fact(
        'Not found as',
        asset.ambiguous.length > 0 &&
          html`${list(asset.ambiguous)} ambiguous: several sources have this tail`
      )}${fact('Hides', list(asset.shadowed))}${fact('Refers to', links(asset.refersTo))}${fact(
        'Referred to by',
        links(asset.referredBy)
      )}
    </dl>`
}

function list(names: readonly string[]): Html | undefined {
  if (names.length === 0) return undefined
  return html`<ul>
    ${names.map(name => html`<li><code>${name}</code></li>`)}
  </ul>`
}

function links(paths: readonly string[]): Html | undefined {
  if (paths.length === 0) return undefined
  return html`<ul>
    ${paths.map(path => html`<li>${assetLink(path)}</li>`)}
  </ul>`
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
    ${representations.map(
      ({ coding, size, headers }) =>
        html`<table class="headers">
          <caption>
            ${coding}, ${bytes(size)}
          </caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Value</th>
              <th scope="col">Why</th>
            </tr>
          </thead>
          <tbody>
            ${headers.map(
              ({ name, value, reason }) =>
                html`<tr>
                  <th scope="row">${name}</th>
                  <td data-label="Value"><code>${value}</code></td>
                  <td data-label="Why">${reason}</td>
                </tr> `
            )}
          </tbody>
        </table> `
    )}`
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
