import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DELIVERIES, deliveryKeys, eventOf, remember } from '../../../platform/rules/previews/deliveries.ts'
import { readHook } from '../../../platform/rules/previews/webhook-payload.ts'
import { type HookHeaders, hookSecret, isSigned } from '../../../platform/rules/previews/webhook-signature.ts'

const body = Buffer.from('{"number": 7, "title": "\u00fc"}')
const hmac = (key: string | Buffer, text: Buffer | string = body) => createHmac('sha256', key).update(text)
const random = Buffer.alloc(32, 7)
const now = Date.parse('2026-01-01T00:00:00Z')
const seconds = now / 1000

describe('the signature of GitHub and Gitea', () => {
  const secret = hookSecret('github', random)
  const right = hmac(secret).digest('hex')
  const hub = `sha256=${right}`
  test.each<readonly [string, 'github' | 'gitea', HookHeaders, boolean]>([
    ['its own', 'github', { 'x-hub-signature-256': hub }, true],
    ['in capitals', 'github', { 'x-hub-signature-256': `sha256=${right.toUpperCase()}` }, true],
    ['none', 'github', {}, false],
    ['an empty one', 'github', { 'x-hub-signature-256': '' }, false],
    ['of another secret', 'github', { 'x-hub-signature-256': `sha256=${hmac('other').digest('hex')}` }, false],
    ['of another body', 'github', { 'x-hub-signature-256': `sha256=${hmac(secret, '{}').digest('hex')}` }, false],
    ['cut', 'github', { 'x-hub-signature-256': hub.slice(0, -2) }, false],
    ['longer', 'github', { 'x-hub-signature-256': `${hub}00` }, false],
    ['no hex', 'github', { 'x-hub-signature-256': `sha256=${'g'.repeat(64)}` }, false],
    ['the old algorithm', 'github', { 'x-hub-signature': `sha1=${right}` }, false],
    ['twice', 'github', { 'x-hub-signature-256': [hub, hub] }, false],
    ['the secret itself', 'github', { 'x-hub-signature-256': secret }, false],
    ['that of Gitea', 'github', { 'x-gitea-signature': right }, false],
    ['a token of GitLab', 'github', { 'x-gitlab-token': secret }, false],
    ['its own', 'gitea', { 'x-gitea-signature': right }, true],
    ['that of Forgejo', 'gitea', { 'x-forgejo-signature': right }, true],
    ['that of GitHub', 'gitea', { 'x-hub-signature-256': hub }, true],
    [
      'a wrong one beside a right one',
      'gitea',
      { 'x-gitea-signature': '0'.repeat(64), 'x-hub-signature-256': hub },
      false,
    ],
    ['none', 'gitea', {}, false],
  ])('isSigned checks a signature: %s, %s', (_, forge, headers, is) => {
    expect(isSigned(forge, secret, { headers, body }, now)).toBe(is)
  })

  test('an empty secret signs nothing', () => {
    const headers = { 'x-hub-signature-256': `sha256=${hmac('').digest('hex')}` }
    expect(isSigned('github', '', { headers, body }, now)).toBe(false)
    expect(isSigned('gitlab', '', { headers: { 'x-gitlab-token': '' }, body }, now)).toBe(false)
  })

  test('a body with any byte changed is refused', () => {
    const headers = { 'x-hub-signature-256': hub }
    for (let at = 0; at < body.length; at++) {
      const changed = Buffer.from(body)
      changed[at]! ^= 1
      expect(isSigned('github', secret, { headers, body: changed }, now)).toBe(false)
    }
  })
})

describe('the token and the signature of GitLab', () => {
  const secret = hookSecret('gitlab', random)
  const signed = (id: string, time: string, key: Buffer = random) =>
    `v1,${createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')}`
  const time = String(seconds)
  const signature = (more: HookHeaders = {}): HookHeaders => ({
    'webhook-id': 'a',
    'webhook-timestamp': time,
    'webhook-signature': signed('a', time),
    ...more,
  })
  test.each<readonly [string, HookHeaders, boolean]>([
    ['the secret', { 'x-gitlab-token': secret }, true],
    ['another secret', { 'x-gitlab-token': `${secret.slice(0, -1)}x` }, false],
    ['a shorter one', { 'x-gitlab-token': secret.slice(0, -1) }, false],
    ['nothing', {}, false],
    ['a signature', signature(), true],
    ['one of two keys', signature({ 'webhook-signature': `v1,AAAA ${signed('a', time)}` }), true],
    ['another id', signature({ 'webhook-id': 'b' }), false],
    ['another time', signature({ 'webhook-timestamp': String(seconds + 1) }), false],
    ['another key', signature({ 'webhook-signature': signed('a', time, Buffer.alloc(32)) }), false],
    ['another version', signature({ 'webhook-signature': signed('a', time).replace('v1', 'v2') }), false],
    ['no id', signature({ 'webhook-id': undefined }), false],
    ['no time', signature({ 'webhook-timestamp': undefined }), false],
    // A signature has to be valid if there is one, even next to the right secret.
    [
      'a wrong signature beside the secret',
      signature({ 'webhook-signature': 'v1,AAAA', 'x-gitlab-token': secret }),
      false,
    ],
    ['a signature of GitHub', { 'x-hub-signature-256': `sha256=${hmac(secret).digest('hex')}` }, false],
  ])('isSigned checks a delivery with %s', (_, headers, is) => {
    expect(isSigned('gitlab', secret, { headers, body }, now)).toBe(is)
  })

  test.each([
    [-299, true],
    [299, true],
    [-301, false],
    [301, false],
  ])('a signature that is %d s old is valid: %s', (age, is) => {
    const then = String(seconds - age)
    const headers = signature({ 'webhook-timestamp': then, 'webhook-signature': signed('a', then) })
    expect(isSigned('gitlab', secret, { headers, body }, now)).toBe(is)
  })

  test('a secret without a key signs nothing', () => {
    const headers = signature({ 'webhook-signature': signed('a', time, Buffer.alloc(0)) })
    expect(isSigned('gitlab', 'plain', { headers, body }, now)).toBe(false)
    expect(isSigned('gitlab', 'whsec_', { headers, body }, now)).toBe(false)
  })
})

describe('eventOf', () => {
  test.each<readonly [string, 'github' | 'gitea' | 'gitlab', HookHeaders, string | undefined]>([
    ['that of GitHub', 'github', { 'x-github-event': 'pull_request' }, 'pull_request'],
    ['that of Gitea', 'gitea', { 'x-gitea-event': 'issues', 'x-github-event': 'other' }, 'issues'],
    ['that of Forgejo', 'gitea', { 'x-forgejo-event': 'push' }, 'push'],
    ['that of GitLab', 'gitlab', { 'x-gitlab-event': 'Merge Request Hook' }, 'Merge Request Hook'],
    ['that of another forge', 'gitlab', { 'x-github-event': 'push' }, undefined],
    ['a repeated header', 'github', { 'x-github-event': ['push', 'push'] }, undefined],
    ['an empty header', 'github', { 'x-github-event': '' }, undefined],
    ['markup', 'github', { 'x-github-event': '<b>push</b>' }, undefined],
    ['a control character', 'github', { 'x-github-event': 'push\u202e' }, undefined],
    ['a long text', 'github', { 'x-github-event': 'a'.repeat(61) }, undefined],
  ])('eventOf reads the name of an event: %s', (_, forge, headers, event) => {
    expect(eventOf(forge, { headers })).toBe(event)
  })
})

describe('repeated deliveries', () => {
  const keys = (id: string | undefined, text: string) =>
    deliveryKeys('github', { headers: { 'x-github-delivery': id }, body: Buffer.from(text) })

  test('an id or a body that was seen before is recognized', () => {
    const seen = remember([], keys('1', 'a'))!
    expect(remember(seen, keys('1', 'a'))).toBeUndefined()
    expect(remember(seen, keys('1', 'b'))).toBeUndefined()
    expect(remember(seen, keys('2', 'a'))).toBeUndefined()
    expect(remember(seen, keys(undefined, 'a'))).toBeUndefined()
    expect(remember(seen, keys('2', 'b'))).toHaveLength(4)
  })

  test('an id is not taken for a body', () => {
    const seen = remember([], keys('a', 'b'))!
    expect(remember(seen, keys('b', 'a'))).toHaveLength(4)
  })

  test('the last 256 deliveries are recognized, with or without an id', () => {
    let seen: readonly string[] = []
    for (let at = 0; at <= 256; at++) seen = remember(seen, keys(`id ${at}`, `body ${at}`))!
    for (let at = 1; at <= 256; at++) {
      expect(remember(seen, keys(undefined, `body ${at}`))).toBeUndefined()
      expect(remember(seen, keys(`id ${at}`, 'new'))).toBeUndefined()
    }
  })

  test('the memory for deliveries has a limit', () => {
    let seen: readonly string[] = []
    for (let at = 0; at < DELIVERIES; at++) seen = remember(seen, keys(`id ${at}`, `body ${at}`))!
    expect(seen).toHaveLength(DELIVERIES)
    expect(remember(seen, keys(`id ${DELIVERIES - 1}`, 'new'))).toBeUndefined()
    expect(JSON.stringify(seen).length).toBeLessThan(16_000)
  })

  test('deliveryKeys reads the ids of GitLab and Gitea', () => {
    const [one] = deliveryKeys('gitlab', { headers: { 'idempotency-key': 'x' }, body })
    const [two] = deliveryKeys('gitea', { headers: { 'x-gitea-delivery': 'x' }, body })
    expect(one).toBe(two)
    expect(deliveryKeys('gitlab', { headers: {}, body })).toHaveLength(1)
  })
})

describe('readHook', () => {
  const read = (forge: 'github' | 'gitea' | 'gitlab', value: unknown) =>
    readHook(forge, Buffer.from(JSON.stringify(value)))
  const merge = { object_kind: 'merge_request', object_attributes: { iid: 7 }, project: { id: 3 } }
  test.each([
    ['github', { pull_request: { number: 7 }, repository: { id: 3 } }, { kind: 'pull', number: 7, repository: '3' }],
    ['gitea', { pull_request: { number: 7 }, repository: { id: 3 } }, { kind: 'pull', number: 7, repository: '3' }],
    ['gitlab', merge, { kind: 'pull', number: 7, repository: '3' }],
    ['github', { zen: 'x', repository: { id: 3 } }, { kind: 'other' }],
    ['gitlab', { object_kind: 'push', project: { id: 3 } }, { kind: 'other' }],
    ['gitlab', { ...merge, object_kind: 'note', merge_request: { iid: 7 } }, { kind: 'other' }],
    ['github', merge, { kind: 'other' }],
    ['github', { pull_request: { number: '7' }, repository: { id: 3 } }, 'number'],
    ['github', { pull_request: { number: -7 }, repository: { id: 3 } }, 'number'],
    ['github', { pull_request: { number: 1_000_000 }, repository: { id: 3 } }, 'number'],
    ['github', { pull_request: { number: 7 } }, 'repository'],
    ['github', { pull_request: { number: 7 }, repository: { id: 'a/b' } }, 'repository'],
    ['github', [], 'JSON'],
    ['github', null, 'JSON'],
  ] as const)('readHook reads a delivery of %s: %j', (forge, value, wanted) => {
    const found = read(forge, value)
    if (typeof wanted !== 'string') expect(found).toEqual(wanted)
    else expect(found).toEqual({ kind: 'invalid', problem: expect.stringContaining(wanted) })
  })

  test('readHook returns only a small number or a few words from any payload', () => {
    const forge = fc.constantFrom('github' as const, 'gitlab' as const, 'gitea' as const)
    const any = fc.oneof(
      fc.jsonValue({ maxDepth: 4 }),
      fc.integer(),
      fc.double(),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('x'.repeat(200_000), '__proto__', '\u202e', '7', 7, -0, 1e21, 2 ** 53, true, null, [7]),
    )
    const part = fc.record({ number: any, iid: any, id: any, toString: any }, { requiredKeys: [] })
    const payload = fc.record(
      {
        ...{ pull_request: fc.oneof(part, any), object_attributes: fc.oneof(part, any), constructor: any },
        ...{ repository: fc.oneof(part, any), project: fc.oneof(part, any) },
        object_kind: fc.oneof(fc.constant('merge_request'), any),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(forge, payload, (one, value) => {
        const found = read(one, value)
        expect(JSON.stringify(found).length).toBeLessThan(200)
        if (found.kind !== 'pull') return
        expect([found.number > 0, found.number < 1_000_000, /^\d{1,16}$/.test(found.repository)]).toEqual(
          Array(3).fill(true),
        )
      }),
      { numRuns: 500 },
    )
  })

  test.each([
    ['lists', (depth: number) => '['.repeat(depth) + ']'.repeat(depth)],
    ['objects', (depth: number) => `${'{"a":'.repeat(depth / 3)}1${'}'.repeat(depth / 3)}`],
    ['lists without an end', (depth: number) => '['.repeat(depth * 2)],
  ])('deeply nested %s are read', (_, text) => {
    const deep = text(120_000)
    for (const body of [deep, `{"pull_request":{"number":7,"x":${deep}},"repository":{"id":3}}`])
      expect(['pull', 'other', 'invalid']).toContain(readHook('github', Buffer.from(body)).kind)
  })

  test('readHook and isSigned throw no error, whatever is sent', () => {
    const forge = fc.constantFrom('github', 'gitlab', 'gitea')
    fc.assert(fc.property(forge, fc.json(), (one, text) => void readHook(one, Buffer.from(text))))
    fc.assert(fc.property(forge, fc.uint8Array(), (one, bytes) => void readHook(one, bytes)))
    fc.assert(
      fc.property(forge, fc.dictionary(fc.string(), fc.string()), fc.string(), (one, headers, secret) => {
        expect(isSigned(one, secret, { headers, body }, now)).toBe(false)
      }),
    )
  })
})
