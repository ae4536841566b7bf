import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { fromEmptied, toEmptied } from '../../../platform/records/emptied.ts'
import { fromMember, toMember } from '../../../platform/records/member.ts'
import { fromNamespace, toNamespace } from '../../../platform/records/namespace.ts'
import { fromOneTime, toOneTime } from '../../../platform/records/one-time.ts'
import { fromSealedEntry, toSealedEntries } from '../../../platform/records/sealed-entries.ts'
import { fromToken, toToken } from '../../../platform/records/token.ts'
import { fromUser, toUser } from '../../../platform/records/user.ts'
import { NAMESPACE_ROLES } from '../../../platform/rules/accounts/roles.ts'
import { TOKEN_KINDS } from '../../../platform/rules/accounts/token.ts'
import { CODE_TRUSTS } from '../../../platform/rules/previews/pull-trust.ts'

// Records are objects that other users can edit: a written record reads back the same, and no content makes the reader
// fail.

const id = fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'), minLength: 16, maxLength: 16 })
const text = fc.string({ minLength: 1, maxLength: 30 })
const time = fc
  .date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true })
  .map(one => one.toISOString())
const name = fc.constantFrom('shop', 'shop-dev', 'a')
const maybe = { requiredKeys: [] as [] }

const user = fc.tuple(
  fc.record({
    id,
    issuer: text,
    subject: text,
    login: text,
    role: fc.constantFrom('admin', 'developer'),
    lastLogin: time,
  }),
  fc.record({ name: text, email: text, home: name, isSuspended: fc.constant(true) }, maybe),
)
const token = fc.tuple(
  fc
    .record({
      id,
      kind: fc.constantFrom(...TOKEN_KINDS),
      hash: text,
      label: fc.string(),
      created: time,
      expires: time,
    })
    // A token of a CI job needs a prefix of namespace names; without one, it is invalid.
    .map(one => ({ ...one, ...(one.kind === 'ci' && { prefix: 'shop-' }) })),
  fc.record({ user: id, lastUse: time, namespaces: fc.array(name), trust: fc.constantFrom(...CODE_TRUSTS) }, maybe),
)
const namespace = fc.tuple(
  fc.record({
    name,
    kind: fc.constantFrom('namespace', 'personal', 'preview'),
    status: fc.constantFrom('Active', 'Sleeping', 'Deleting', 'DeleteFailed'),
    owner: id,
    lastActive: time,
    longerNames: fc.uniqueArray(name),
  }),
  fc.record(
    { isGlobal: fc.constant(true), isPersistent: fc.constant(true), isUntrusted: fc.constant(true), expires: time },
    maybe,
  ),
)
const member = fc.record({ namespace: name, user: id, role: fc.constantFrom(...NAMESPACE_ROLES) })
const oneTime = fc.oneof(
  fc.record({ kind: fc.constant('code'), user: id, label: text, challenge: text, expires: time }),
  fc.record({ kind: fc.constant('device'), label: text, code: text, created: time, expires: time }),
)

test('records are read as they were written', () => {
  fc.assert(
    fc.property(user, token, namespace, member, id, oneTime, (user, token, namespace, member, key, once) => {
      for (const [made, read] of [
        [{ ...user[0], ...user[1] }, (one: never) => toUser(fromUser(one))],
        [{ ...token[0], ...token[1] }, (one: never) => toToken(fromToken(one))],
        [member, (one: never) => toMember(fromMember(one))],
        [once, (one: never) => toOneTime(fromOneTime(key, one))],
      ] as const)
        expect(read(made as never)).toEqual(made)
      const written = fromNamespace({ ...namespace[0], ...namespace[1], created: '' } as never)
      expect(toNamespace(written)).toEqual({ ...namespace[0], ...namespace[1], created: '1970-01-01T00:00:00Z' })
    }),
  )
})

test('sealed entries are read as they were written, and invalid ones are ignored', () => {
  const entry = fc.record({ sealed: text, by: id, set: time, note: text }, { requiredKeys: ['sealed', 'by', 'set'] })
  fc.assert(
    fc.property(fc.dictionary(text, entry), fc.dictionary(text, fc.jsonValue()), (entries, others) => {
      const good = Object.entries(entries).map(([name, one]) => [`a${name}`, fromSealedEntry(one)])
      const bad = Object.entries(others).map(([name, one]) => [`b${name}`, one])
      const data = Object.fromEntries([...bad, ...good])
      const read = toSealedEntries({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'x' }, data })
      const wanted = Object.fromEntries(Object.entries(entries).map(([name, one]) => [`a${name}`, one]))
      expect(Object.fromEntries(read)).toEqual(wanted)
    }),
  )
})

const emptied = fc.record({
  name,
  uid: text,
  owner: id,
  members: fc.array(fc.record({ user: id, role: fc.constantFrom('developer', 'viewer') })),
})

test('an emptied personal namespace is read as it was written, and gets no other owner', () => {
  fc.assert(
    fc.property(emptied, id, (one, other) => {
      const { members } = one
      expect(toEmptied(fromEmptied(one as never))).toEqual(one)
      const forged = { ...one, members: [...members, { user: other, role: 'owner' }, { user: 'x', role: 'viewer' }] }
      expect(toEmptied(fromEmptied(forged as never))).toEqual(one)
    }),
  )
})

const readers = { toUser, toEmptied, toToken, toNamespace, toMember, toOneTime, toSealedEntries }
const json = fc.jsonValue()

test('the readers of records throw no error, whatever an object contains', () => {
  const object = fc.record({
    apiVersion: text,
    kind: text,
    metadata: fc.record({
      name: fc.oneof(
        text,
        id.map(one => `u-${one}`),
        id.map(one => `t-${one}`),
        id.map(one => `e-${one}`),
      ),
    }),
    data: fc.oneof(
      json,
      fc.record({ token: json, value: json }),
      fc.record({ namespace: json.map(one => Buffer.from(JSON.stringify(one)).toString('base64')) }),
    ),
    subjects: json,
    roleRef: json,
    status: json,
  })
  fc.assert(
    fc.property(object, fc.constantFrom(...Object.values(readers)), (one, read) => {
      expect(() => read(one as unknown as KubeObject)).not.toThrow()
    }),
    { numRuns: 500 },
  )
})

test('a binding that grants other rights than its labels say is no membership', () => {
  const one = fromMember({ namespace: 'shop', user: 'a'.repeat(16), role: 'viewer' })
  expect(toMember({ ...one, roleRef: { kind: 'ClusterRole', name: 'devctl-developer' } })).toBeUndefined()
  expect(
    toMember({ ...one, subjects: [{ kind: 'ServiceAccount', namespace: 'shop', name: `u-${'a'.repeat(16)}` }] }),
  ).toBeUndefined()
})

test('a namespace that is being deleted is not active, whatever its label says', () => {
  const written = fromNamespace({
    name: 'a',
    kind: 'namespace',
    status: 'Active',
    owner: 'a'.repeat(16),
    created: '',
    lastActive: 'x',
    longerNames: [],
  })
  const ending = { ...written, metadata: { ...written.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  expect(toNamespace(ending)?.status).toBe('Deleting')
  expect(toNamespace(ending)?.waits).toBeUndefined()

  const content = 'Some resources are remaining: configmaps. has 1 resource instances'
  const finalizers = 'Some content in the namespace has finalizers remaining: example.com/x in 1 resource instances'
  const conditions = [
    { type: 'NamespaceDeletionDiscoveryFailure', status: 'False', message: 'All resources successfully discovered' },
    { type: 'NamespaceContentRemaining', status: 'True', message: content },
    { type: 'NamespaceFinalizersRemaining', status: 'True', message: finalizers },
  ]
  expect(toNamespace({ ...ending, status: { phase: 'Terminating', conditions } })?.waits).toBe(
    `${finalizers}; ${content}`,
  )
})
