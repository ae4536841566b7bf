import { createSecretKey } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import type { UserError } from '../../../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../../../../constructs/manifest.ts'
import { type Sealed, type SealOptions, sealSecret } from '../../../../gitops/encryption/seal.ts'
import { readSealingCertificate, type SealingCertificate } from '../../../../gitops/encryption/seal-certificate.ts'
import { encryptValue, looksEncrypted } from '../../../../gitops/encryption/seal-format.ts'
import {
  CERTIFICATE,
  ELLIPTIC_CERTIFICATE,
  OTHER_CERTIFICATE,
  PRIVATE_KEY,
  RENEWED_CERTIFICATE,
  SMALL_CERTIFICATE,
} from '../../../support/gitops/certificates.ts'
import { decryptValue, encryptedData } from '../../../support/gitops/unseal.ts'
import { SEALED_BY_KUBESEAL } from '../sealed-by-kubeseal.ts'

const NOW = new Date('2030-06-01T00:00:00Z')
const certificateOf = (pem: string): SealingCertificate => readSealingCertificate(pem, 'seal.pem', NOW).certificate
const CLUSTER = certificateOf(CERTIFICATE)
const KEY = createSecretKey(Buffer.alloc(32, 7))

const base64 = (text: string) => Buffer.from(text).toString('base64')
const VALUES = { password: 'correct horse', user: 'ann', empty: '' }

function secret(values: Readonly<Record<string, string>> = VALUES, more: object = {}): KubernetesObject {
  const data = Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)]))
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db', namespace: 'shop' },
    type: 'Opaque',
    data,
    ...more,
  }
}

/** Seals a Secret once, and then again with these differences. */
function sealTwice(
  again: { readonly secret?: KubernetesObject; readonly certificate?: SealingCertificate } & Partial<SealOptions>,
) {
  const first = sealSecret(secret(), CLUSTER, { key: KEY })
  const options = { key: KEY, previous: { sealed: first.manifest, marks: first.marks }, ...again }
  const second = sealSecret(again.secret ?? secret(), again.certificate ?? CLUSTER, options)
  return { first, second, changed: changedBetween(first, second) }
}

function changedBetween(first: Sealed, second: Sealed): readonly string[] {
  const [before, after] = [encryptedData(first.manifest), encryptedData(second.manifest)]
  return Object.keys(after).filter(key => before[key] !== after[key])
}

describe('encryptValue', () => {
  test.each(Object.entries(SEALED_BY_KUBESEAL))('the format is that of kubeseal, with label `%s`', (label, text) => {
    expect(decryptValue(text, label).toString()).toBe('correct horse')
    expect(looksEncrypted(text, CLUSTER.publicKey, 'correct horse'.length)).toBe(true)
    const ours = encryptValue(CLUSTER.publicKey, Buffer.from('correct horse'), label)
    expect(ours).toHaveLength(text.length)
    expect(decryptValue(ours, label).toString()).toBe('correct horse')
    expect(() => decryptValue(ours, `${label}x`)).toThrow()
  })

  test('encryptValue never returns the same text twice, and takes all bytes', () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 256))
    const [one, two] = [encryptValue(CLUSTER.publicKey, bytes, ''), encryptValue(CLUSTER.publicKey, bytes, '')]
    expect(one).not.toBe(two)
    expect(decryptValue(two, '').equals(bytes)).toBe(true)
    // The encrypted keys differ as well.
    expect(one.slice(8, 200)).not.toBe(two.slice(8, 200))
  })
})

describe('a sealed Secret', () => {
  test('a sealed Secret is valid for one name in one namespace', () => {
    const { manifest } = sealSecret(secret(), CLUSTER, { key: KEY })
    expect(manifest).toEqual({
      apiVersion: 'bitnami.com/v1alpha1',
      kind: 'SealedSecret',
      metadata: { name: 'db', namespace: 'shop' },
      spec: {
        template: { metadata: { name: 'db', namespace: 'shop' }, type: 'Opaque' },
        encryptedData: { empty: expect.any(String), password: expect.any(String), user: expect.any(String) },
      },
    })
    const opened = Object.entries(encryptedData(manifest)).map(([key, text]) => [
      key,
      `${decryptValue(text, 'shop/db')}`,
    ])
    expect(Object.fromEntries(opened)).toEqual(VALUES)
    for (const text of Object.values(encryptedData(manifest))) expect(() => decryptValue(text, 'shop/other')).toThrow()
    expect(Object.keys(encryptedData(manifest))).toEqual(['empty', 'password', 'user'])
  })

  test.each([
    ['namespace-wide', 'shop', { 'sealedsecrets.bitnami.com/namespace-wide': 'true' }],
    ['cluster-wide', '', { 'sealedsecrets.bitnami.com/cluster-wide': 'true' }],
  ] as const)('a sealed Secret is valid for more with the scope %s', (scope, label, annotations) => {
    const { manifest } = sealSecret(secret(), CLUSTER, { key: KEY, scope })
    expect(decryptValue(encryptedData(manifest).password!, label).toString()).toBe('correct horse')
    expect(manifest.metadata.annotations).toEqual(annotations)
    expect(manifest.spec).toMatchObject({ template: { metadata: { annotations } } })
  })

  test('a sealed Secret keeps labels and annotations, without copied values or other scopes', () => {
    const metadata = {
      name: 'db',
      namespace: 'shop',
      labels: { app: 'shop' },
      annotations: {
        z: 'last',
        'kubectl.kubernetes.io/last-applied-configuration': '{"data":{"password":"Y29ycmVjdCBob3JzZQ=="}}',
        'sealedsecrets.bitnami.com/cluster-wide': 'true',
        a: 'first',
      },
    }
    const { manifest } = sealSecret(secret(VALUES, { metadata, immutable: true }), CLUSTER, { key: KEY })
    const kept = { name: 'db', namespace: 'shop', labels: { app: 'shop' }, annotations: { a: 'first', z: 'last' } }
    expect(manifest.metadata).toEqual(kept)
    expect(manifest.spec).toMatchObject({ template: { metadata: kept, type: 'Opaque', immutable: true } })
    // A printer of YAML would make an alias of a shared object.
    expect((manifest.spec as { template: { metadata: object } }).template.metadata).not.toBe(manifest.metadata)
  })

  test('a sealed Secret includes `stringData`', () => {
    const mixed = secret({ user: 'ann', password: 'old' }, { stringData: { password: 'pässword' } })
    const { manifest, marks } = sealSecret(mixed, CLUSTER, { key: KEY })
    expect(decryptValue(encryptedData(manifest).password!, 'shop/db').toString()).toBe('pässword')
    expect(Object.keys(marks)).toEqual(['password', 'user'])
    const { data: _, ...without } = secret()
    expect(encryptedData(sealSecret(without as KubernetesObject, CLUSTER, { key: KEY }).manifest)).toEqual({})
  })

  test('a sealed Secret can have keys of any name', () => {
    const odd = secret(JSON.parse('{"__proto__":"a","constructor":"b",".dockerconfigjson":"c"}'))
    const first = sealSecret(odd, CLUSTER, { key: KEY })
    const second = sealSecret(odd, CLUSTER, { key: KEY, previous: { sealed: first.manifest, marks: first.marks } })
    expect(Object.keys(encryptedData(second.manifest)).sort()).toEqual([
      '.dockerconfigjson',
      '__proto__',
      'constructor',
    ])
    expect(second).toEqual(first)
  })

  test('a sealed Secret needs a namespace, except with the scope cluster-wide', () => {
    const nowhere = secret(VALUES, { metadata: { name: 'db' } })
    for (const scope of ['strict', 'namespace-wide'] as const)
      expect(() => sealSecret(nowhere, CLUSTER, { key: KEY, scope })).toThrow(
        'a sealed one is for one namespace, and it has none',
      )
    const { manifest } = sealSecret(nowhere, CLUSTER, { key: KEY, scope: 'cluster-wide' })
    expect(manifest.metadata).not.toHaveProperty('namespace')
  })
})

describe('sealing again', () => {
  test('sealing again returns the same bytes for the same values', () => {
    const { first, second } = sealTwice({})
    expect(JSON.stringify(second)).toBe(JSON.stringify(first))
  })

  test('sealing again returns the same bytes after a way through files', () => {
    const first = sealSecret(secret(), CLUSTER, { key: KEY })
    const previous = JSON.parse(JSON.stringify({ sealed: first.manifest, marks: first.marks }))
    expect(sealSecret(secret(), certificateOf(CERTIFICATE), { key: KEY, previous })).toEqual(first)
  })

  test('sealing again changes only changed values', () => {
    const { second, changed } = sealTwice({ secret: secret({ ...VALUES, user: 'bob' }) })
    expect(changed).toEqual(['user'])
    expect(decryptValue(encryptedData(second.manifest).user!, 'shop/db').toString()).toBe('bob')
  })

  test('sealing again adds and removes keys', () => {
    const { second, changed } = sealTwice({ secret: secret({ password: VALUES.password, more: 'x' }) })
    expect(changed).toEqual(['more'])
    expect(Object.keys(second.marks)).toEqual(['more', 'password'])
  })

  test('sealing again distinguishes keys that swap their values', () => {
    const { changed } = sealTwice({ secret: secret({ password: VALUES.user, user: VALUES.password }) })
    expect(changed).toEqual(['password', 'user'])
  })

  const ALL = Object.keys(VALUES).sort()
  test.each([
    ['another certificate', { certificate: certificateOf(OTHER_CERTIFICATE) }, ALL],
    ['another certificate of the same key', { certificate: certificateOf(RENEWED_CERTIFICATE) }, []],
    ['another key of the marks', { key: createSecretKey(Buffer.alloc(32, 8)) }, ALL],
    ['another scope', { scope: 'namespace-wide' as const }, ALL],
    ['another name', { secret: secret(VALUES, { metadata: { name: 'other', namespace: 'shop' } }) }, ALL],
    ['another namespace', { secret: secret(VALUES, { metadata: { name: 'db', namespace: 'other' } }) }, ALL],
    [
      'other labels',
      { secret: secret(VALUES, { metadata: { name: 'db', namespace: 'shop', labels: { a: 'b' } } }) },
      [],
    ],
    ['nothing before', { previous: undefined }, ALL],
  ])('sealing again with %s replaces only outdated values', (_, again, expected) => {
    expect(sealTwice(again).changed).toEqual(expected)
  })

  test.each([
    ['no text', 7],
    ['a value in clear', 'correct horse'],
    ['one of another length', encryptValue(CLUSTER.publicKey, Buffer.from('short'), 'shop/db')],
    ['one for another key', Buffer.alloc(2 + 256 + 13 + 16).toString('base64')],
    ['none', undefined],
  ])('sealing again replaces a value that is not sealed: %s', (_, password) => {
    const { manifest, marks } = sealSecret(secret(), CLUSTER, { key: KEY })
    const sealed = { ...manifest, spec: { encryptedData: { ...encryptedData(manifest), password } } }
    const again = sealSecret(secret(), CLUSTER, { key: KEY, previous: { sealed, marks } })
    expect(decryptValue(encryptedData(again.manifest).password!, 'shop/db').toString()).toBe('correct horse')
    for (const bad of [
      { ...manifest, spec: null },
      { ...manifest, spec: { encryptedData: null } },
    ])
      expect(sealSecret(secret(), CLUSTER, { key: KEY, previous: { sealed: bad, marks } }).marks).toEqual(marks)
  })

  test('marks do not show equal values, and are the HMAC that another program computes', () => {
    const { marks } = sealSecret(secret({ one: 'same', two: 'same' }), CLUSTER, { key: KEY })
    expect(marks.one).toMatch(/^[0-9a-f]{64}$/)
    expect(marks.one).not.toBe(marks.two)
    // Another program computed this value: HMAC-SHA256 of `["<SHA-256 of the public key>","strict","shop/db","one"]`, a
    // line end and the value. Marks are kept in files, so that they must not change with a version.
    expect(marks.one).toBe('ff5791ecf72a57914f24b7f45aa560fa2b6f2726098affe0869d9a6c18f6ee15')
  })
})

describe('a certificate', () => {
  const read = (text: string, now = NOW) => readSealingCertificate(text, 'seal.pem', now)

  test('a certificate is read from a text with other content', () => {
    const { certificate, warnings } = read(`subject=someone\n${CERTIFICATE}\n${OTHER_CERTIFICATE}`)
    expect(certificate.fingerprint).toBe(CLUSTER.fingerprint)
    expect(warnings).toEqual([])
    expect(read(CERTIFICATE.replaceAll('\n', '\r\n')).certificate.fingerprint).toBe(CLUSTER.fingerprint)
  })

  test.each([
    ['nothing', '', 'does not contain a PEM certificate'],
    ['something else', 'apiVersion: v1', 'does not contain a PEM certificate'],
    ['a public key', '-----BEGIN PUBLIC KEY-----\nMII\n-----END PUBLIC KEY-----', 'does not contain a PEM certificate'],
    ['a damaged one', CERTIFICATE.replace(/\n.{60}/, '\n'), 'contains a damaged certificate'],
    ['an elliptic key', ELLIPTIC_CERTIFICATE, 'is the certificate of a key that is not RSA (ec)'],
    ['a short key', SMALL_CERTIFICATE, 'is the certificate of a key of 1024 bits'],
    ['a private key', PRIVATE_KEY, 'contains a private key'],
    ['a private key beside it', `${CERTIFICATE}${PRIVATE_KEY}`, 'contains a private key'],
    ['an old private key', PRIVATE_KEY.replaceAll('PRIVATE', 'RSA PRIVATE'), 'contains a private key'],
  ])('readSealingCertificate refuses %s', (_, text, why) => {
    let error: UserError | undefined
    try {
      read(text)
    } catch (thrown) {
      error = thrown as UserError // nothing else is expected, which the next line checks
    }
    expect(error?.message).toContain(`\`seal.pem\` ${why}`)
    expect(error?.hint).toContain('kubeseal --fetch-cert')
    for (const line of text.split('\n').filter(line => line.length > 50)) expect(inspect(error)).not.toContain(line)
  })

  test('an expired or future certificate is used with a warning', () => {
    expect(read(CERTIFICATE, new Date('2200-01-01')).warnings).toEqual([
      expect.stringMatching(
        /^the certificate `seal.pem` has expired on 21\d\d-\d\d-\d\d: the cluster has a newer one$/,
      ),
    ])
    expect(read(CERTIFICATE, new Date('2020-01-01')).warnings).toEqual([
      expect.stringMatching(/^the certificate `seal.pem` is not valid before 20\d\d-\d\d-\d\d$/),
    ])
  })
})
