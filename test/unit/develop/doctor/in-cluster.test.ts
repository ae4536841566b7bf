import { expect, test } from 'vitest'
import type { MirrorSettings } from '../../../../constructs/mirror/settings.ts'
import { accessOf } from '../../../../develop/doctor/in-cluster.ts'
import { claimFacts } from '../../../../develop/mirror/claim-facts.ts'
import { findOriginal } from '../../../../develop/mirror/find-original.ts'
import { restoreWorkload } from '../../../../develop/mirror/restore-workload.ts'
import type { Session } from '../../../../project/session.ts'

const { signal } = new AbortController()

interface Permission {
  readonly group: string
  readonly resource: string
  readonly verb: string
}

/** The permissions that the report lists as missing for a user who has none. */
async function needed(): Promise<readonly string[]> {
  const cluster = { create: async () => ({ status: { resourceRules: [] } }) }
  const text = await accessOf({ cluster, namespace: 'shop' } as unknown as Session, signal)
  const { missing } = JSON.parse(text) as { readonly missing: readonly Permission[] }
  return missing.map(({ group, resource, verb }) => `${verb} ${resource}.${group}`)
}

/** A session with an empty cluster that records the requests. */
function recorded() {
  const asked = new Set<string>()
  const take = (verb: string) => (ref: { readonly apiVersion: string; readonly kind: string }) => {
    const group = ref.apiVersion.includes('/') ? ref.apiVersion.split('/')[0] : ''
    asked.add(`${verb} ${ref.kind.toLowerCase()}s.${group}`)
  }
  const cluster = {
    get: async (ref: Parameters<ReturnType<typeof take>>[0]) => take('get')(ref),
    list: async (query: Parameters<ReturnType<typeof take>>[0]) => {
      take('list')(query)
      return []
    },
  }
  return { asked, session: { cluster, namespace: 'shop', signal } as unknown as Session }
}

test.each<[string, (session: Session) => Promise<unknown>]>([
  ['find a workload by its name', session => findOriginal(session, { name: 'api', selector: [] })],
  [
    'find a workload by its labels',
    session => findOriginal(session, { name: 'api', selector: [{ name: 'app', value: 'api' }] }),
  ],
  [
    'prepare the claim',
    session =>
      claimFacts(session, {
        name: 'api',
        mode: 'sync',
        volume: { enabled: true, size: '5Gi', storageClass: 'fast' },
      } as MirrorSettings),
  ],
  ['end a session', session => restoreWorkload(session, { name: 'api' }, { volumes: true }, () => {})],
])('accessOf checks the permissions to %s', async (_, work) => {
  const { asked, session } = recorded()
  await work(session)
  expect(asked.size).toBeGreaterThan(0)
  expect(await needed()).toEqual(expect.arrayContaining([...asked]))
})

test('accessOf checks the permissions to follow the original and to replace a Pod', async () => {
  const follow = ['deployments.apps', 'statefulsets.apps', 'jobs.batch', 'cronjobs.batch'].map(one => `watch ${one}`)
  expect(await needed()).toEqual(expect.arrayContaining([...follow, 'delete pods.']))
})
