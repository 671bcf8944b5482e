import test from 'ava'
import { makeHelpers } from './view-helpers-site.ts'

const assets = makeHelpers()('web')

test('REN-08 video() and audio() of one file', t => {
  t.is(
    assets.video('m.mp4', { autoplay: true, controls: true }),
    '<video autoplay="autoplay" controls="controls" src="/assets/m.mp4"></video>'
  )
  t.is(
    assets.audio('m.mp3', { controls: true }),
    '<audio controls="controls" src="/assets/m.mp3"></audio>'
  )
})

test('REN-08 sources are tags with their types, tracks and a text follow', t => {
  t.is(
    assets.video({
      controls: true,
      poster: 'm.jpg',
      sources: [
        'm.webm',
        { src: 'm.mp4?v=1', media: '(min-width: 1px)' },
        { src: 'm', type: 'a/b' }
      ],
      tracks: [{ kind: 'captions', src: 'm.en.vtt', srclang: 'en', default: true }],
      content: 'No <video>'
    }),
    '<video controls="controls" poster="/assets/m.jpg">\n' +
      '<source src="/assets/m.webm" type="video/webm">\n' +
      '<source src="/assets/m.mp4?v=1" type="video/mp4" media="(min-width: 1px)">\n' +
      '<source src="/assets/m" type="a/b">\n' +
      '<track kind="captions" src="/assets/m.en.vtt" srclang="en" default="default">\n' +
      'No &lt;video&gt;\n' +
      '</video>'
  )
  t.is(
    assets.audio({ sources: ['m.ogg'] }),
    '<audio>\n<source src="/assets/m.ogg" type="audio/ogg">\n</audio>'
  )
})

test('REN-08 neither a name nor sources, and both, are a TypeError', t => {
  for (const args of [[], [{}], [{ sources: [] }], ['m.mp4', { sources: ['m.webm'] }], [null]]) {
    t.throws(() => Reflect.apply(assets.video, null, args), {
      instanceOf: TypeError,
      message: 'video() needs either a name or { sources: [name, …] }'
    })
  }
  t.throws(() => assets.audio({ src: 'm.mp3' }), { instanceOf: TypeError, message: /audio\(\)/ })
  t.throws(() => Reflect.apply(assets.video, null, [{ sources: 'm.mp4' }]), {
    instanceOf: TypeError,
    message: "sources must be a list, got 'm.mp4'"
  })
})
