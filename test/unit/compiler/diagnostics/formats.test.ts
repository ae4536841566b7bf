import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { type Diagnostic, diagnostic } from '../../../../compiler/diagnostics/diagnostic.ts'
import { renderAnnotations } from '../../../../compiler/diagnostics/render/github.ts'
import { diagnosticsToJson } from '../../../../compiler/diagnostics/render/json.ts'
import { diagnosticsToSarif } from '../../../../compiler/diagnostics/render/sarif.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'

const kind = diagnostic({
  code: 'test/sample',
  severity: 'warning',
  explain: 'A sample, e.g. this one. It has a second sentence.\n\nAnd a paragraph.',
  text: () => ({ message: '' }),
})

const file = new SourceFile('my app/compose.yaml', 'services:\n  🚀web: {}\n  db:\n')
const web = { file, start: 12, end: 17 }
const full: Diagnostic = {
  code: kind.code,
  severity: 'warning',
  message: '100% wrong',
  span: web,
  related: [{ span: { file, start: 24, end: 26 }, message: 'see here' }],
  notes: ['a note'],
  hint: 'write: this, or\nthat',
}
const bare: Diagnostic = { code: 'test/unknown', severity: 'error', message: 'no file' }

test('JSON diagnostics have ranges that count code points from 1', () => {
  expect(diagnosticsToJson([full, bare])).toEqual([
    {
      code: 'test/sample',
      severity: 'warning',
      message: '100% wrong',
      file: 'my app/compose.yaml',
      range: { start: { line: 2, column: 3 }, end: { line: 2, column: 7 } },
      related: [
        {
          file: 'my app/compose.yaml',
          range: { start: { line: 3, column: 3 }, end: { line: 3, column: 5 } },
          message: 'see here',
        },
      ],
      notes: ['a note'],
      hint: 'write: this, or\nthat',
    },
    { code: 'test/unknown', severity: 'error', message: 'no file', related: [], notes: [] },
  ])
})

describe('annotations of GitHub', () => {
  test('annotations escape the characters that would end a property or the message', () => {
    expect(renderAnnotations([full, bare])).toBe(
      '::warning file=my app/compose.yaml,line=2,col=3,endColumn=7,title=test/sample::100%25 wrong%0Anote: a note%0Ahelp: write: this, or%0Athat\n' +
        '::error title=test/unknown::no file\n',
    )
  })

  test('annotations have paths from the root of the repository', () => {
    const odd = {
      ...bare,
      severity: 'info' as const,
      span: { file: new SourceFile('a,b:c%.yaml', 'x\ny\n'), start: 0, end: 3 },
    }
    expect(renderAnnotations([odd], path => `sub/${path}`)).toBe(
      '::notice file=sub/a%2Cb%3Ac%25.yaml,line=1,col=1,endLine=2,title=test/unknown::no file\n',
    )
  })
})

describe('diagnosticsToSarif', () => {
  const log = diagnosticsToSarif([full, bare, full], { version: '1.2.3' })

  test('the log has the shape of SARIF 2.1.0', () => {
    const validate = new Ajv({ strict: false }).compile(sarifSchema)
    expect(validate(JSON.parse(JSON.stringify(log))), JSON.stringify(validate.errors)).toBe(true)
  })

  test('the log names each rule once, with its page', () => {
    const { rules } = log.runs[0]!.tool.driver
    expect(rules.map(rule => rule.id)).toEqual(['test/sample', 'test/unknown'])
    expect(rules[0]).toMatchObject({
      shortDescription: { text: 'A sample, e.g. this one.' },
      fullDescription: { text: kind.explain },
      defaultConfiguration: { level: 'warning' },
    })
    expect(log.runs[0]!.results.map(result => [result.ruleId, result.ruleIndex, result.level])).toEqual([
      ['test/sample', 0, 'warning'],
      ['test/unknown', 1, 'error'],
      ['test/sample', 0, 'warning'],
    ])
  })

  test.each([
    ['the main file', { mainFile: 'app/devctl.yml' }, 'app/devctl.yml'],
    ['the usual Compose file if there is no main file', {}, 'compose.yaml'],
  ])('a result without a position is located in %s, because code scanning refuses it otherwise', (_, options, uri) => {
    const [result] = diagnosticsToSarif([bare], { version: '1', ...options }).runs[0]!.results
    expect(result!.locations).toEqual([{ physicalLocation: { artifactLocation: { uri }, region: { startLine: 1 } } }])
  })

  test('the log has relative references, and file URLs for absolute paths', () => {
    const uri = (path: string) => {
      const span = { file: new SourceFile(path, 'x'), start: 0, end: 1 }
      const [result] = diagnosticsToSarif([{ ...bare, span }], { version: '1' }).runs[0]!.results
      return result!.locations[0]!.physicalLocation.artifactLocation.uri
    }
    expect(uri('my app/compose.yaml')).toBe('my%20app/compose.yaml')
    expect(uri('../a#b.yaml')).toBe('../a%23b.yaml')
    expect(uri('/srv/a b.yaml')).toBe('file:///srv/a%20b.yaml')
    expect(uri('C:\\app\\a.yaml')).toBe('file:///C:/app/a.yaml')
    expect(uri('sub\\a.yaml')).toBe('sub/a.yaml')
  })
})

// The parts of the format that we write, as its specification defines them (sections 3.13 to 3.30).
const message = {
  type: 'object',
  properties: { text: { type: 'string', minLength: 1 }, markdown: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
}
const level = { enum: ['none', 'note', 'warning', 'error'] }
const location = {
  type: 'object',
  properties: {
    id: { type: 'integer', minimum: 0 },
    message,
    physicalLocation: {
      type: 'object',
      properties: {
        artifactLocation: {
          type: 'object',
          properties: { uri: { type: 'string', pattern: '^[^ \\\\]*$' } },
          required: ['uri'],
          additionalProperties: false,
        },
        region: {
          type: 'object',
          properties: Object.fromEntries(
            ['startLine', 'startColumn', 'endLine', 'endColumn'].map(name => [name, { type: 'integer', minimum: 1 }]),
          ),
          required: ['startLine'],
          additionalProperties: false,
        },
      },
      required: ['artifactLocation'],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
}
const sarifSchema = {
  type: 'object',
  properties: {
    $schema: { type: 'string' },
    version: { const: '2.1.0' },
    runs: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          tool: {
            type: 'object',
            properties: {
              driver: {
                type: 'object',
                properties: {
                  name: { type: 'string' },
                  version: { type: 'string' },
                  semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
                  rules: {
                    type: 'array',
                    uniqueItems: true,
                    items: {
                      type: 'object',
                      properties: {
                        id: { type: 'string' },
                        shortDescription: message,
                        fullDescription: message,
                        help: message,
                        defaultConfiguration: {
                          type: 'object',
                          properties: { level },
                          additionalProperties: false,
                        },
                      },
                      required: ['id'],
                      additionalProperties: false,
                    },
                  },
                },
                required: ['name'],
                additionalProperties: false,
              },
            },
            required: ['driver'],
            additionalProperties: false,
          },
          columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
          results: {
            type: 'array',
            items: {
              type: 'object',
              properties: {
                ruleId: { type: 'string' },
                ruleIndex: { type: 'integer', minimum: 0 },
                level,
                message,
                locations: { type: 'array', items: location },
                relatedLocations: { type: 'array', items: location, uniqueItems: true },
              },
              required: ['message'],
              additionalProperties: false,
            },
          },
        },
        required: ['tool'],
        additionalProperties: false,
      },
    },
  },
  required: ['version', 'runs'],
  additionalProperties: false,
}
