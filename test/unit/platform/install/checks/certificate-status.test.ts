import { expect, test } from 'vitest'
import { certificateProblems } from '../../../../../platform/install/checks/certificate-status.ts'

const NOW = Date.UTC(2026, 5, 15)
const DAY = 86_400_000
const url = 'https://platform.dev.example.com'
const certificate = (days: number, more: { readonly distrust?: string; readonly covers?: boolean } = {}) => ({
  names: ['*.dev.example.com'],
  issuer: 'an authority',
  from: new Date(NOW - DAY),
  fingerprint: 'AA:BB',
  until: new Date(NOW + days * DAY),
  distrust: more.distrust,
  covers: () => more.covers ?? true,
  root: undefined,
})
const other = { source: 'other', isTrusted: false } as const

test('neither a good certificate nor a missing one is a problem', () => {
  expect(certificateProblems(url, certificate(14), NOW, other)).toEqual([])
  for (const none of [undefined, { problem: 'refused' }]) expect(certificateProblems(url, none, NOW, other)).toEqual([])
})

test.each([
  [-1, 'own', 'has expired', '`devctl platform install` makes a new one'],
  [-1, 'cert-manager', 'has expired', expect.stringContaining('describe certificate platform-tls')],
  [-1, 'other', 'has expired', expect.stringContaining('`--tls-secret`')],
  [13, 'own', 'expires in 13 days', '`devctl platform install` makes a new one'],
] as const)('a certificate with %d days left, of source %s, is reported with a hint', (days, source, text, hint) => {
  const found = certificateProblems(url, certificate(days, { distrust: 'expired' }), NOW, { source, isTrusted: true })
  expect(found).toEqual([
    { message: `the certificate of platform.dev.example.com ${text}`, notes: ['it is for `*.dev.example.com`'], hint },
  ])
})

test('a certificate that is untrusted and does not cover the hosts has two problems', () => {
  const found = certificateProblems(url, certificate(100, { distrust: 'self-signed', covers: false }), NOW, other)
  expect(found.map(({ message }) => message)).toEqual([
    'this machine does not trust the certificate of platform.dev.example.com: self-signed',
    'the certificate is not for the hosts of environments',
  ])
})
