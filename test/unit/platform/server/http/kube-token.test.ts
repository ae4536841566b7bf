import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ServerContext } from '../../../../../platform/server/context.ts'
import { kubeToken } from '../../../../../platform/server/http/kube-token.ts'
import { UserClusters } from '../../../../../platform/server/http/user-clusters.ts'
import { Tokens } from '../../../../../platform/server/login/tokens.ts'
import { Users } from '../../../../../platform/server/login/users.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

// A refused user gets no token of Kubernetes, although the API token of the user is kept for later.

async function open() {
  const memory = new MemoryCluster({ namespaces: ['devctl-users'] })
  let whileIssued = async () => {}
  const status = { token: 'of Kubernetes', expirationTimestamp: '2100-01-01T00:00:00Z' }
  const cluster = new Proxy(memory, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target)
      if (key === 'createIn') return () => whileIssued().then(() => ({ status }))
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  let reveal: (fresh: boolean) => Promise<string> = () => Promise.reject(new Error('there is no client'))
  const world = {
    cluster,
    clusterAs: (token: typeof reveal) => {
      reveal = token
      return cluster
    },
    now: Date.now,
    random: randomBytes,
  } as unknown as ServerContext
  const accounts = { users: new Users(world), tokens: new Tokens(world) }
  const user = await accounts.users.loggedIn({ issuer: 'https://issuer.example.com', subject: '1', login: 'ann' })
  const { record } = await accounts.tokens.issue({ kind: 'api', label: 'ci', user: user.id })
  const refuse = async () => void (await accounts.users.change(user.id, { isRefused: true }))
  const by = { user, token: record }
  new UserClusters(world, accounts).of(by)
  return {
    ask: () => kubeToken(world, accounts, by),
    renew: () => reveal(true),
    refuse,
    refuseWhileIssued: () => {
      whileIssued = refuse
    },
  }
}

const refusal = expect.objectContaining({ message: '`ann` has to log in again' })

test('a user who is refused while a token of Kubernetes is issued does not get it', async () => {
  const { ask, refuseWhileIssued } = await open()
  expect(await ask()).toMatchObject({ token: 'of Kubernetes' })
  refuseWhileIssued()
  await expect(ask()).rejects.toEqual(refusal)
})

test('the client of a user who was refused gets no further token of Kubernetes', async () => {
  const { renew, refuse } = await open()
  expect(await renew()).toBe('of Kubernetes')
  await refuse()
  await expect(renew()).rejects.toEqual(refusal)
})
