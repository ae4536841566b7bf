import { describe, expect, test } from 'vitest'
import { diagnosticsOf, pageOf } from '../../../../editor/answers/diagnostics.ts'
import { fixesIn } from '../../../../editor/answers/fixes.ts'
import { symbolsOf } from '../../../../editor/answers/symbols.ts'
import { ask } from '../../../support/editor/ask.ts'

/** Returns the diagnostics of the file with the cursor, and the document. */
async function diagnosed(files: Readonly<Record<string, string>>) {
  const { asked, folder } = await ask(files)
  const found = diagnosticsOf(asked.project!, asked.path, pageOf('/devctl/docs/diagnostics'))
  return { asked, folder, found: found.get(asked.path) ?? [], all: found }
}

describe('diagnosticsOf', () => {
  test('has the severity, the code with its page, and the hint of an error', async () => {
    const { found } = await diagnosed({ 'compose.yaml': 'services:\n  web:\n    image: x\n    prots: ["80"]‸\n' })
    expect(found.map(({ shown }) => shown)).toMatchObject([
      {
        range: { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } },
        severity: 1,
        code: 'services/unknown-key',
        codeDescription: { href: 'file:///devctl/docs/diagnostics/services.md#servicesunknown-key' },
        message: 'unknown key `prots` in service `web`\nhelp: did you mean `ports`?',
      },
    ])
  })

  test('control characters of the file are not part of a message or hint', async () => {
    const { found } = await diagnosed({
      'compose.yaml': 'services:\n  web:\n    image: "x:\\e[31m\\x9b"\n    restart: "\\u202ealways"‸\n',
    })
    const text = found.map(({ shown }) => shown.message).join('\n')
    expect(text).toContain('`x:\\u{1b}[31m\\u{9b}`')
    expect(text).not.toMatch(/[\u001b\u009b\u202e]/)
  })

  test('marks keys without effect as unnecessary', async () => {
    const { found } = await diagnosed({
      'compose.yaml': 'services:\n  web:\n    image: x\n    ulimits: {nofile: 9}‸\n',
    })
    expect(found.map(({ shown }) => shown)).toMatchObject([{ code: 'ulimits/no-effect', severity: 2, tags: [1] }])
  })

  test('counts columns in UTF-16 code units', async () => {
    const { found } = await diagnosed({
      'compose.yaml': 'services:\n  web: {labels: {a: "😀"}, image: x, prots: []}‸\n',
    })
    expect(found[0]?.shown.range.start).toEqual({ line: 1, character: 37 })
  })

  test('points at the second position of a problem', async () => {
    const text = 'services:\n  web:\n    image: x\n  web:\n    image: y‸\n'
    const { found, asked } = await diagnosed({ 'compose.yaml': text })
    expect(found[0]?.shown.relatedInformation).toMatchObject([
      { location: { uri: asked.document.uri, range: { start: { line: 1, character: 2 } } } },
    ])
  })

  test('reports a problem of another file in that file', async () => {
    const { all, folder } = await diagnosed({
      'compose.yaml': 'include: [other.yaml]\nservices:\n  web:\n    image: x‸\n',
      'other.yaml': 'services:\n  api:\n    image: y\n    prots: []\n',
    })
    expect([...all.keys()]).toEqual([`${folder}/other.yaml`])
  })

  test('masks secrets in messages', async () => {
    const { found } = await diagnosed({
      'compose.yaml': 'services:\n  web:\n    image: x\n    mem_limit: "$DB_PASSWORD"‸\n',
      '.env': 'DB_PASSWORD=s3cretvalue\n',
    })
    const texts = JSON.stringify(found.map(({ shown }) => shown))
    expect(texts).toContain('bad size `***`')
    expect(texts).not.toContain('s3cretvalue')
  })
})

describe('fixesIn', () => {
  const START = { line: 3, character: 5 }

  test('proposes the name of the hint', async () => {
    const { asked, found } = await diagnosed({ 'compose.yaml': 'services:\n  web:\n    image: x\n    prots: []‸\n' })
    const [fix] = fixesIn(asked, found, { start: START, end: START })
    expect(fix).toMatchObject({ title: 'Change to `ports`', kind: 'quickfix' })
    expect(fix?.edit?.changes?.[asked.document.uri]).toEqual([
      { range: { start: { line: 3, character: 4 }, end: { line: 3, character: 9 } }, newText: 'ports' },
    ])
  })

  test('proposes a name for a service that does not exist, in its quotes', async () => {
    const text = 'services:\n  web:\n    image: x\n    depends_on: ["cahce"]‸\n  cache: {image: y}\n'
    const { asked, found } = await diagnosed({ 'compose.yaml': text })
    const at = { line: 3, character: 20 }
    expect(fixesIn(asked, found, { start: at, end: at })[0]?.edit?.changes?.[asked.document.uri]?.[0]?.newText).toMatch(
      /^"?cache"?$/,
    )
  })

  test('proposes nothing elsewhere, and nothing for a text that has changed since', async () => {
    const { asked, found } = await diagnosed({ 'compose.yaml': 'services:\n  web:\n    image: x\n    prots: []‸\n' })
    const elsewhere = { line: 0, character: 0 }
    expect(fixesIn(asked, found, { start: elsewhere, end: elsewhere })).toEqual([])
    const changed = { document: { ...asked.document, getText: () => 'image' } as typeof asked.document }
    expect(fixesIn(changed, found, { start: START, end: START })).toEqual([])
  })
})

test('symbolsOf lists sections, their entries and the keys of these', async () => {
  const { asked } = await diagnosed({
    'compose.yaml': 'services:\n  web:\n    image: x\n    build: {context: .}\nvolumes:\n  data:‸\n',
  })
  const names = (symbols: ReturnType<typeof symbolsOf>): unknown =>
    symbols.map(({ name, children }) => (children?.length ? { [name]: names(children) } : name))
  expect(names(symbolsOf(asked))).toEqual([{ services: [{ web: ['image', 'build'] }] }, { volumes: ['data'] }])
})
