import { describe, expect, test } from 'vitest'
import { checkedDependencies, statusProblems } from '../../../../../platform/install/checks/dependency-status.ts'
import { type Installation, settingsHash } from '../../../../../platform/install/manifests/server.ts'
import { fromChecks } from '../../../../../platform/records/dependency-checks.ts'
import type { ReachFailure } from '../../../../../platform/rules/dependencies.ts'
import { MemoryCluster } from '../../../../support/memory-cluster/memory-cluster.ts'

const NOW = Date.parse('2026-11-23T15:00:00Z')
const GIT = { kind: 'oidc', name: 'Git', address: 'https://git.example.com' } as const
const INSTALLATION: Installation = {
  version: '0.1.0',
  domain: 'dev.example.com',
  image: 'platform:1',
  runnerImage: 'runner:1',
  replicas: 1,
  kubernetes: { server: 'https://k.example.com' },
  providers: [{ kind: 'oidc', id: 'oidc', name: 'Git', issuer: GIT.address, clientId: 'x', allow: [] }],
}
const FAILURE: ReachFailure = { kind: 'untrusted', detail: 'self-signed certificate' }

describe('an installation', () => {
  function open() {
    const cluster = new MemoryCluster({ namespaces: ['devctl-users'] })
    const world = { cluster, signal: AbortSignal.timeout(10_000), now: () => NOW, on: () => {} }
    const report = (settings: string, failure?: ReachFailure) =>
      cluster.apply(
        fromChecks({ checked: '2026-11-23T14:59:00Z', settings, all: [{ ...GIT, ...(failure && { failure }) }] }),
        { manager: 'server', force: true },
      )
    return { world, report }
  }

  test('an installation waits for the checks of the server that it started, not of the earlier one', async () => {
    const { world, report } = open()
    await report('an-earlier-hash', FAILURE)
    const states = checkedDependencies(world, INSTALLATION)
    await report(settingsHash(INSTALLATION))
    expect(await states).toEqual([{ ...GIT, state: 'reached', checked: '2026-11-23T14:59:00Z' }])
  })

  test('an installation reports the problems that the new server found', async () => {
    const { world, report } = open()
    await report(settingsHash(INSTALLATION), FAILURE)
    expect(statusProblems(await checkedDependencies(world, INSTALLATION))).toEqual([
      {
        message:
          'people cannot log in with `Git`: the server does not trust the certificate of `git.example.com`: self-signed certificate',
        notes: ['checked by the server at 2026-11-23T14:59:00Z'],
        hint: expect.stringContaining('--ca FILE'),
      },
    ])
  })

  test('an installation does not wait too long, nor without replicas or servers to check', async () => {
    const { world } = open()
    expect(await checkedDependencies(world, INSTALLATION, 0)).toEqual([{ ...GIT, state: 'unknown' }])
    expect(await checkedDependencies(world, { ...INSTALLATION, replicas: 0 })).toEqual([])
    expect(await checkedDependencies(world, { ...INSTALLATION, providers: [] })).toEqual([])
  })

  test('an installation ignores invalid settings of other servers', async () => {
    const { world } = open()
    const kept = { ci: [null, { kind: 'gitea', issuer: 'x' }], forges: 'x' }
    expect(await checkedDependencies(world, { ...INSTALLATION, providers: [], kept })).toEqual([])
  })
})

test('settingsHash changes with the trusted authorities', () => {
  expect(settingsHash({ ...INSTALLATION, trusted: 'PEM' })).not.toBe(settingsHash(INSTALLATION))
})
