import { describe, expect, test } from 'vitest'
import { secretDocumentsIn } from '../../../../gitops/encryption/secret-documents.ts'
import { type ScanOptions, scanForSecrets } from '../../../../gitops/encryption/secret-scan.ts'
import { PRIVATE_KEY } from '../../../support/gitops/certificates.ts'

const ENCRYPTED = 'ENC[AES256_GCM,data:xlqRRo0L,iv:5gcKW+IEFcj=,tag:stqEKww9njsSbw==,type:str]'

describe('Secrets with values', () => {
  test.each([
    ['a document', 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\ndata:\n  a: YQ==\n', [2]],
    ['with texts', '# source\nkind: Secret\nstringData:\n  a: b\n', [2]],
    ['with the values first', 'data:\n  a: YQ==\nmetadata:\n  name: a\n\n# why\nkind: "Secret" # here\n', [7]],
    [
      'of several documents',
      'kind: ConfigMap\ndata:\n  a: b\n---\nkind: Secret\n---\nkind: Secret\ndata:\n  a: YQ==\n',
      [7],
    ],
    ['with line ends of Windows', 'kind: Secret\r\ndata:\r\n  a: YQ==\r\n', [1]],
    ['in a list', 'items:\n- apiVersion: v1\n  kind: Secret\n  data:\n    a: YQ==\n- kind: Secret\n', [3]],
    ['in a list, first', 'items:\n  - kind: Secret\n    data: {a: YQ==}\n  - kind: ConfigMap\n    data: {a: b}\n', [2]],
    ['in a text', 'kind: ConfigMap\ndata:\n  a.yaml: |\n    kind: Secret\n    data:\n      a: YQ==\n', [4]],
    ['in JSON', '{\n  "kind": "Secret",\n  "data": {\n    "a": "YQ=="\n  }\n}\n', [2]],
    ['in JSON with the values on a line', '{\n  "data": {"a": "YQ=="},\n  "kind": "Secret"\n}\n', [3]],
    ['in JSON on one line', '{"apiVersion":"v1","kind":"Secret","data":{"a":"YQ=="}}', [1]],
    ['in flow style', '[{kind: Secret, stringData: { a: b }}]', [1]],
    ['after a comment that is not indented', 'kind: Secret\ndata:\n# why\n\n  a: YQ==\n', [1]],
    ['in lists of lists', '- - kind: Secret\n    data:\n      a: YQ==\n', [1]],
    ['with a value that SOPS has not encrypted', `kind: Secret\ndata:\n  a: ${ENCRYPTED}\n  b: YQ==\n`, [1]],
    ['with a block beside what SOPS has encrypted', `kind: Secret\ndata:\n  a: ${ENCRYPTED}\n  b: |\n    c\n`, [1]],
    ['with what only begins as SOPS does', `kind: Secret\ndata:\n  a: ${ENCRYPTED}x\n`, [1]],
    ['with a key that is hard to read', `kind: Secret\ndata:\n  a: ${ENCRYPTED}\n  ? b\n  : YQ==\n`, [1]],
    ['two', '- kind: Secret\n  data: {a: YQ==}\n- data:\n    b: YQ==\n  kind: Secret\n', [1, 5]],
    ['with an anchor', 'kind: Secret\ndata: &all\n  a: YQ==\n', [1]],
  ])('secretDocumentsIn finds Secrets with values: %s', (_, text, lines) => {
    expect(secretDocumentsIn(text)).toEqual(lines)
  })

  test.each([
    ['without values', 'kind: Secret\nmetadata:\n  name: a\n'],
    [
      'with none',
      'kind: Secret\ndata: {}\n---\nkind: Secret\nstringData: null\n---\nkind: Secret\ndata:\ntype: Opaque\n',
    ],
    ['with none in JSON', '{\n  "kind": "Secret",\n  "data": {},\n  "stringData": {\n  }\n}\n'],
    ['with none on one line', '{"kind":"Secret","data":{}}'],
    ['another kind', 'kind: SealedSecret\nspec:\n  encryptedData:\n    a: b\n  template:\n    data:\n      a: b\n'],
    [
      'an external one',
      'kind: ExternalSecret\nspec:\n  data:\n    - secretKey: a\n  secretStoreRef:\n    kind: SecretStore\n',
    ],
    [
      'a reference',
      'kind: ConfigMap\nmetadata:\n  ownerReferences:\n    - kind: Secret\n      name: a\ndata:\n  a: b\n',
    ],
    ['values of the next document', 'kind: Secret\n---\ndata:\n  a: b\nkind: ConfigMap\n'],
    ['values of the document before', 'kind: ConfigMap\ndata:\n  a: b\n---\nkind: Secret\n'],
    ['values of the next in a list', '- kind: Secret\n- data:\n    a: b\n  kind: ConfigMap\n- kind: Secret\n'],
    ['values of its metadata', 'kind: Secret\nmetadata:\n  annotations:\n    data: x\n'],
    ['values that SOPS has encrypted', `kind: Secret\ndata:\n  a: ${ENCRYPTED}\n  b: ""\nsops:\n  mac: x\n`],
    [
      'in JSON, encrypted by SOPS',
      `{\n  "kind": "Secret",\n  "data": {\n    "a": "${ENCRYPTED}",\n    "b": ""\n  }\n}\n`,
    ],
    ['a word', 'kind: ConfigMap\ndata:\n  kind: Secret of mine\n  data: x\n'],
    ['nothing', ''],
  ])('secretDocumentsIn does not find: %s', (_, text) => {
    expect(secretDocumentsIn(text)).toEqual([])
  })
})

/** Subset of the shapes that the tests need. */
const options: ScanOptions = {
  shapes: text =>
    [
      { what: 'a private key', pattern: /-----BEGIN PRIVATE KEY-----/g },
      { what: 'a token', pattern: /tok_\w{8,}/g },
    ].flatMap(({ what, pattern }) =>
      [...text.matchAll(pattern)].map(({ 0: found, index }) => ({ what, start: index, end: index + found.length })),
    ),
}

describe('scanForSecrets', () => {
  const TOKEN = 'tok_0123456789abcdef'
  const files = new Map([
    ['web/config.yaml', `kind: ConfigMap\ndata:\n  token: ${TOKEN}\n  again: ${TOKEN}, ${TOKEN}\n`],
    ['db/secret-db.yaml', `kind: Secret\ndata:\n  key: ${Buffer.from(PRIVATE_KEY).toString('base64')}\n`],
    ['db/key.yaml', `data:\n  key: |\n${PRIVATE_KEY.replaceAll(/^/gm, '    ')}\n`],
    ['README.md', 'nothing to see: sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n'],
  ])

  test('scanForSecrets returns the places in order, without the secrets', () => {
    const found = scanForSecrets(files, options)
    expect(found).toEqual([
      { path: 'db/key.yaml', line: 3, what: 'a private key' },
      { path: 'db/secret-db.yaml', line: 1, what: 'a Secret with values' },
      { path: 'db/secret-db.yaml', line: 3, what: 'a private key, in base64' },
      { path: 'web/config.yaml', line: 3, what: 'a token' },
      { path: 'web/config.yaml', line: 4, what: 'a token' },
    ])
    expect(JSON.stringify(found)).not.toContain(TOKEN)
  })

  test('scanForSecrets skips values that are public', () => {
    const paths = scanForSecrets(files, { ...options, isPublic: text => text === TOKEN }).map(({ path }) => path)
    expect(paths).not.toContain('web/config.yaml')
    expect(paths).toContain('db/key.yaml')
  })

  test('scanForSecrets finishes within the time limit for 50,000 lines of any kind', () => {
    for (const [line, count] of [
      ['kind: Secret\n', 0],
      ['- data:\n', 0],
      ['kind: "', 0],
      [' ', 0],
      ['- ', 0],
      ['kind: Secret,', 0],
      ['- kind: Secret\n  data: x\n', 50_000],
    ] as const)
      expect(scanForSecrets(new Map([['a.yaml', `${line.repeat(50_000)}Secret`]]), options)).toHaveLength(count)
  })
})
