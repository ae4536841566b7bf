import { describe, expect, test } from 'vitest'
import {
  type DependencyState,
  dependenciesOf,
  dependencyProblems,
  dependencyStates,
  type NeededServer,
  type ReachFailure,
} from '../../../../platform/rules/dependencies.ts'

const OIDC: NeededServer = { kind: 'oidc', name: 'Git', address: 'https://git.example.com' }
const FORGE: NeededServer = {
  kind: 'forge',
  name: 'git.example.com',
  address: 'https://git.example.com',
  forge: 'gitea',
}
const CI: NeededServer = { kind: 'ci', name: 'ci.example.com', address: 'https://ci.example.com/', forge: 'gitlab' }
const failed = (one: NeededServer, failure: ReachFailure): DependencyState => ({ ...one, state: 'failed', failure })
const DOCUMENT = 'https://git.example.com/.well-known/openid-configuration'

describe('dependencyProblems', () => {
  test.each<readonly [ReachFailure, string, string]>([
    [
      { kind: 'name' },
      'the name `git.example.com` does not resolve in the cluster',
      'add the name to the DNS that the cluster uses, or correct the address: `devctl platform install --oidc ISSUER --oidc-client-id ID`',
    ],
    [
      { kind: 'refused' },
      'nothing listens at `https://git.example.com`, seen from the server',
      'check that it is running, and that firewalls and network policies let Pods of `devctl-platform` connect to it; to correct the address, run `devctl platform install --oidc ISSUER --oidc-client-id ID`',
    ],
    [
      { kind: 'timeout', seconds: 5 },
      '`https://git.example.com` does not answer the server within 5 s',
      'check that it is running, and that firewalls and network policies let Pods of `devctl-platform` connect to it; to correct the address, run `devctl platform install --oidc ISSUER --oidc-client-id ID`',
    ],
    [
      { kind: 'untrusted', detail: 'unable to verify the first certificate' },
      'the server does not trust the certificate of `git.example.com`: unable to verify the first certificate',
      'to trust the authority that issued it, run `devctl platform install --ca FILE`; the file has the certificates (PEM) of all private authorities',
    ],
    [{ kind: 'expired' }, 'the certificate of `git.example.com` has expired', 'renew the certificate there'],
    [
      { kind: 'status', url: DOCUMENT, status: 404 },
      `\`${DOCUMENT}\` answers with status 404`,
      'to correct the address, run `devctl platform install --oidc ISSUER --oidc-client-id ID`',
    ],
    [
      { kind: 'status', url: DOCUMENT, status: 502 },
      `\`${DOCUMENT}\` answers with status 502`,
      'the log of that server says why',
    ],
    [
      { kind: 'no-document', url: DOCUMENT },
      `\`${DOCUMENT}\` is not the discovery document of a provider`,
      'to correct the address, run `devctl platform install --oidc ISSUER --oidc-client-id ID`',
    ],
    [
      { kind: 'issuer', found: 'https://login.example.com' },
      'the provider at `https://git.example.com` calls itself `https://login.example.com`',
      'if it is the right provider, name it as it does itself: `devctl platform install --oidc https://login.example.com --oidc-client-id ID`',
    ],
  ])('dependencyProblems explains the failure %j', (failure, cause, hint) => {
    expect(dependencyProblems([failed(OIDC, failure)])).toEqual([
      { message: `people cannot log in with \`Git\`: ${cause}`, hint },
    ])
  })

  test('all uses of a server that fail for the same reason are one problem', () => {
    const name = { kind: 'name' } as const
    const all = [failed(OIDC, name), failed(CI, name), failed(FORGE, name), { ...OIDC, state: 'reached' } as const]
    expect(dependencyProblems(all).map(({ message }) => message)).toEqual([
      'people cannot log in with `Git`, and webhooks of `git.example.com` do not work: the name `git.example.com` does not resolve in the cluster',
      'CI jobs of `ci.example.com` cannot log in: the name `ci.example.com` does not resolve in the cluster',
    ])
  })

  test('a hint contains no address from a provider that is not a plain URL', () => {
    const [problem] = dependencyProblems([failed(OIDC, { kind: 'issuer', found: 'https://x.example/`rm -rf`$(x)' })])
    expect(problem?.hint).toContain('--oidc ISSUER ')
  })

  test('a hint for a forge names the address of its API', () => {
    const wrong = { kind: 'status', url: 'https://git.example.com/api/v1/version', status: 404 } as const
    expect(dependencyProblems([failed(FORGE, wrong)])[0]?.hint).toBe(
      'to correct the address of its API, run `devctl platform install … --forge gitea=https://git.example.com,api=URL`',
    )
  })
})

test('dependenciesOf lists each server of the settings once for each use', () => {
  const provider = { kind: 'oidc', id: 'oidc', name: 'Git', issuer: OIDC.address, clientId: 'x', allow: [] } as const
  const forge = { kind: 'gitea', url: FORGE.address } as const
  const ci = [{ kind: 'gitlab', issuer: CI.address, rules: [] }] as const
  expect(
    dependenciesOf({ providers: [provider], ci, forges: [forge, forge, { url: 'https://other.example.com' }] }),
  ).toEqual([OIDC, CI, FORGE])
})

describe('dependencyStates', () => {
  const now = Date.parse('2026-11-23T15:00:00Z')
  const checked = '2026-11-23T14:55:00Z'

  test('the state of a server is that of the last check, which includes forges of webhooks', () => {
    const all = [{ ...OIDC, failure: { kind: 'name' } as const }, FORGE]
    expect(dependencyStates([OIDC, CI], { checked, all }, now)).toEqual([
      { ...OIDC, state: 'failed', checked, failure: { kind: 'name' } },
      { ...CI, state: 'unknown' },
      { ...FORGE, state: 'reached', checked },
    ])
  })

  test('the state is unknown without a check, and after an old one', () => {
    expect(dependencyStates([OIDC], undefined, now)).toEqual([{ ...OIDC, state: 'unknown' }])
    const old = { checked: '2026-11-23T14:00:00Z', all: [{ ...OIDC, failure: { kind: 'name' } as const }, FORGE] }
    expect(dependencyStates([OIDC], old, now)).toEqual([{ ...OIDC, state: 'unknown' }])
    expect(dependencyProblems(dependencyStates([OIDC], old, now))).toEqual([])
  })

  test('a provider that is no longer configured has no state', () => {
    expect(dependencyStates([], { checked, all: [{ ...OIDC, failure: { kind: 'name' } }] }, now)).toEqual([])
  })
})
