import { expect, test } from 'vitest'
import type { PlatformUser } from '../../../../../platform/records/user.ts'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { Hooks } from '../../../../../platform/server/hooks/hooks.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const settings = { forges: [{ kind: 'gitea', url: 'https://git.example.com' }], providers: [], ci: [] }
const hooks = new Hooks({ cluster: new MemoryCluster(), settings } as unknown as ServerContext)
const ann = { id: 'a'.repeat(16), login: 'ann', role: 'developer' } as PlatformUser

test.each([
  ['kube-', 'a preview cannot be called `kube-pr-1`: it is reserved'],
  ['openshift-shop-', 'a preview cannot be called `openshift-shop-pr-1`: it is reserved'],
  ['shop', '`shop` is not a valid prefix for names of previews'],
])('a webhook with the prefix %s is refused', async (prefix, message) => {
  const wanted = { repository: 'https://git.example.com/team/shop', token: 'x', prefix }
  await expect(hooks.create(ann, wanted)).rejects.toMatchObject({
    status: 400,
    body: { code: 'platform/name', message },
  })
})
