// The inspector's stylesheet.
export const STYLE = `:root {
  color-scheme: light dark;
  --accent: light-dark(#0f7a56, #5fd3a5);
  --page: light-dark(#f5f8f6, #0d1614);
  --surface: light-dark(#fff, #14211e);
  --sunken: light-dark(#eaf1ed, #0b1311);
  --line: light-dark(#d5e2dc, #263a35);
  --text: light-dark(#14241f, #e3eeea);
  --muted: light-dark(#4b6058, #9db4ab);
  --good: light-dark(#0b6b3f, #6fdc9c);
  --kept: light-dark(#1a56a8, #8fbcff);
  --warn: light-dark(#7a5200, #f0c36a);
  --bad: light-dark(#b02a1c, #ff9d8f);
  --mono: ui-monospace, 'SF Mono', 'Cascadia Code', 'DejaVu Sans Mono', Menlo, monospace;
}
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif }
header, main { max-width: 88rem; margin: 0 auto; padding: 0 1.25rem }
header { display: flex; flex-wrap: wrap; gap: .25rem 2rem; align-items: baseline; padding-block: 1rem; border-bottom: 1px solid var(--line) }
main { padding-bottom: 4rem }
h1 { margin: 1.5rem 0 .25rem; font-size: 1.5rem; line-height: 1.25 }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem }
h3 { margin: 0; padding: .5rem .85rem; font-size: .9rem; border-bottom: 1px solid var(--line) }
.path { font-family: var(--mono); overflow-wrap: anywhere }
a { color: var(--accent); text-underline-offset: .15em; overflow-wrap: anywhere }
a:hover { text-decoration-thickness: 2px }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
.skip { position: absolute; left: -100vw }
.skip:focus { left: 1rem; top: .5rem; padding: .5rem 1rem; background: var(--surface); z-index: 1 }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.brand { margin: 0; font-weight: 700 }
.brand a { color: inherit; text-decoration: none }
nav { display: flex; gap: 1.25rem }
nav [aria-current] { color: var(--text); text-decoration-thickness: 2px; font-weight: 600 }
code, pre { font-family: var(--mono); font-size: .92em }
code { overflow-wrap: anywhere }
.note, .source { color: var(--muted); overflow-wrap: anywhere }
.note { margin: .25rem 0 }
.problem { color: var(--bad); overflow-wrap: anywhere; white-space: pre-wrap }
p.problem { padding: .6rem .85rem; border-left: 4px solid var(--bad); background: var(--surface) }
.filters { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none }
.filters a { display: block; padding: .25rem .8rem; border: 1px solid var(--line); border-radius: 99px; background: var(--surface); color: var(--text); text-decoration: none }
.filters [aria-current] { border-color: var(--accent); color: var(--accent); font-weight: 600 }
.forms { display: flex; flex-wrap: wrap; gap: 1rem 2.5rem; margin: 1rem 0 }
form { display: flex; flex-wrap: wrap; gap: .4rem; align-items: end; flex: 1 1 20rem }
label { flex: 1 0 100%; color: var(--muted); font-size: .85rem }
input, button { font: inherit; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: 8px; background: var(--surface); color: inherit }
input { flex: 1; min-width: 8rem }
button { border-color: var(--accent); color: var(--accent); cursor: pointer }
table { width: 100%; margin-top: .75rem; border-collapse: collapse; background: var(--surface); border: 1px solid var(--line) }
th, td { padding: .55rem .85rem; overflow-wrap: anywhere; text-align: left; vertical-align: top; border-top: 1px solid var(--line) }
thead th { border-top: 0; white-space: nowrap; background: var(--sunken); color: var(--muted); font-size: .8rem; font-weight: 600 }
.list td:first-child { width: 55% }
.list td:first-child > span { display: block; font-size: .88rem }
time { white-space: nowrap }
.list img { float: left; margin: .1rem .75rem 0 0 }
img { object-fit: contain; background: repeating-conic-gradient(var(--sunken) 0 25%, var(--surface) 0 50%) 0 0 / 12px 12px; border: 1px solid var(--line); border-radius: 4px }
.size { display: block; white-space: nowrap; font-variant-numeric: tabular-nums }
.state { display: inline-block; padding: 0 .55rem; border: 1px solid; border-radius: 99px; font-size: .82rem; white-space: nowrap }
.published, .s2 { color: var(--good) }
.outdated, .s4 { color: var(--warn) }
.unpublished, .pending { color: var(--muted) }
.s3 { color: var(--kept) }
.broken, .s5 { color: var(--bad); font-weight: 600 }
summary { cursor: pointer; color: var(--accent); white-space: nowrap }
details ul, .facts ul, td > ul { margin: 0; padding: 0; list-style: none }
.pager { justify-content: center; margin: 1rem 0 }
.picture img { max-width: min(100%, 24rem); max-height: 16rem }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .4rem 1.5rem; margin: 1rem 0; padding: 1rem; background: var(--surface); border: 1px solid var(--line) }
dt { color: var(--muted) }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0 }
.failure { padding: .25rem 1rem 1rem; border-left: 4px solid var(--bad); background: var(--surface) }
.failure h2 { margin: .75rem 0; color: var(--bad) }
pre { margin: 0; padding: .75rem .85rem; max-height: 32rem; overflow: auto; background: var(--sunken); line-height: 1.45; tab-size: 2 }
.steps, .outcome { overflow-wrap: anywhere }
.steps li { margin: .35rem 0 }
.steps strong { display: inline-block; min-width: 5.5rem; color: var(--muted) }
.steps ul { margin: .2rem 0 0; padding-left: 1.2rem; color: var(--muted); font-size: .9rem; list-style: '– ' }
.steps li li { margin: 0 }
.outcome { padding: .6rem .85rem; border-left: 4px solid var(--accent); background: var(--surface) }
.headers { margin: 0 0 1.25rem }
caption { padding: .4rem 0; text-align: left; font-weight: 600 }
.headers tbody th { width: 15rem; font-weight: 500 }
.headers td + td { width: 40%; color: var(--muted) }
.texts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1rem; align-items: start }
.code { min-width: 0; border: 1px solid var(--line); background: var(--surface) }
.code .note { padding: 0 .85rem }
.code pre code { counter-reset: line }
.code pre span { counter-increment: line }
.code pre span::before { content: counter(line); display: inline-block; width: 2.5rem; margin-right: 1rem; color: var(--muted); text-align: right; user-select: none }
@media (max-width: 44rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
  table, tbody, tr, td, tbody th { display: block }
  tr { padding: .6rem .85rem; border-top: 1px solid var(--line) }
  tbody tr:first-child, td, tbody th { border: 0 }
  .list td, .headers td, .headers tbody th { width: auto; padding: .1rem 0 }
  td:empty { display: none }
  td + td::before, th + td::before { content: attr(data-column) ': '; color: var(--muted) }
  .facts { grid-template-columns: 1fr; gap: 0 }
  dd { margin-bottom: .6rem }
}
@media (forced-colors: active) { .state, .filters [aria-current] { border: 1px solid } }
`
