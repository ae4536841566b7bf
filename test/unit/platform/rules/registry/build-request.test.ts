import { describe, expect, test } from 'vitest'
import { decodeMessage, encodeMessage } from '../../../../../adapters/buildkit/wire.ts'
import { type BuildRequest, buildProblem, scopedBuild } from '../../../../../platform/rules/registry/build-request.ts'

const SCOPE = {
  namespace: 'ann',
  cache: 'uid-of-ann',
  images: { registry: 'registry.example.com', place: 'ann-1f2e3d4c' },
}
/** Scope on a platform without a registry of its own. */
const WITHOUT = { namespace: SCOPE.namespace, cache: SCOPE.cache }
const PLAIN: BuildRequest = { Ref: 'r', Session: 's', Frontend: 'dockerfile.v0' }
const problem = (part: BuildRequest) => buildProblem({ ...PLAIN, ...part }, SCOPE)
const push = (name: string) => ({ Exporters: [{ Type: 'image', Attrs: { name, push: 'true' } }] })

describe('builds that are allowed', () => {
  test.each<readonly [string, BuildRequest]>([
    ['a plain one', {}],
    [
      'with what Compose has',
      {
        FrontendAttrs: {
          filename: 'Dockerfile',
          target: 'dev',
          platform: 'linux/amd64',
          'no-cache': '',
          'build-arg:NODE_ENV': 'x',
          'label:a.b/c': 'd',
          'context:base': 'docker-image://node:22',
          'add-hosts': 'a=1.2.3.4',
          'shm-size': '1',
          ulimit: 'nofile=1:2',
          'force-network-mode': 'none',
          'attest:provenance': 'mode=max',
          'image-resolve-mode': 'pull',
          context: 'https://example.com/a.git',
          dockerfilekey: 'dockerfile',
        },
      },
    ],
    ['pushed to the own namespace', push('registry.example.com/ann-1f2e3d4c/web:1')],
    ['pushed to another registry', push('ghcr.io/ann/web:1,ghcr.io/ann/web:2')],
    ['pushed by an older client', { Exporter: 'image', ExporterAttrs: { name: 'ghcr.io/a/b', push: 'true' } }],
    ['as an archive', { Exporters: [{ Type: 'docker', Attrs: {} }] }],
    ['with a cache in a registry', { Cache: { Exports: [{ Type: 'registry', Attrs: { ref: 'ghcr.io/a/b' } }] } }],
  ])('buildProblem accepts a build: %s', (_, part) => {
    expect(problem(part)).toBeUndefined()
  })
})

describe('builds that are refused', () => {
  test.each<readonly [BuildRequest, string]>([
    [{ Frontend: '' }, 'only Dockerfiles are built (the frontend `dockerfile.v0`)'],
    [{ Frontend: 'gateway.v0' }, 'only Dockerfiles are built (the frontend `dockerfile.v0`)'],
    [{ FrontendAttrs: { source: 'evil/frontend' } }, 'the attribute `source` is not allowed'],
    [{ FrontendAttrs: { cmdline: 'evil/frontend' } }, 'the attribute `cmdline` is not allowed'],
    [{ FrontendAttrs: { hostname: 'b-uid-of-bob' } }, 'the attribute `hostname` is not allowed'],
    [{ FrontendAttrs: { 'build-arg:BUILDKIT_SYNTAX': 'x' } }, 'the platform itself sets `BUILDKIT_SYNTAX`'],
    [
      { FrontendAttrs: { 'build-arg:BUILDKIT_SANDBOX_HOSTNAME': 'x' } },
      'the platform itself sets `BUILDKIT_SANDBOX_HOSTNAME`',
    ],
    [{ FrontendAttrs: { 'cache-from': 'evil/cache' } }, 'the attribute `cache-from` is not allowed'],
    [
      { FrontendAttrs: { 'cache-imports': '[{"Type":"registry"}]' } },
      'caches cannot be imported: BuildKit would use their steps for all namespaces',
    ],
    [{ Cache: { Exports: [{ Type: 'azblob', Attrs: {} }] } }, 'caches of the type `azblob` are not written'],
    [{ Cache: { Exports: [{ Type: 'constructor', Attrs: {} }] } }, 'caches of the type `constructor` are not written'],
    [{ Exporters: [{ Type: 'tar' }] }, 'results of the type `tar` are not exported'],
    [{ Exporters: [{ Type: 'docker' }, { Type: 'local' }] }, 'results of the type `local` are not exported'],
    [
      { Exporters: [{ Type: 'image', Attrs: { name: 'x', push: 'true', unpack: 'true' } }] },
      'the attribute `unpack` of the result is not allowed',
    ],
    [
      push('ghcr.io/a/b,registry.example.com/bob/web'),
      '`registry.example.com/bob/web` is not an image of the namespace `ann`: write `registry.example.com/ann-1f2e3d4c/…`',
    ],
    [
      push('registry.example.com/ann-1f2e3d4c-2/web'),
      '`registry.example.com/ann-1f2e3d4c-2/web` is not an image of the namespace `ann`: write `registry.example.com/ann-1f2e3d4c/…`',
    ],
  ])('buildProblem refuses %j', (part, words) => {
    expect(problem(part)).toBe(words)
  })
})

describe('scopedBuild', () => {
  const ids = { ref: 'build-1', session: 'session-1' }

  test('scopedBuild sets the ids, the cache scope and the host name of the namespace', () => {
    const attributes = { filename: 'Dockerfile', 'cache-imports': '[]' }
    expect(scopedBuild({ ...PLAIN, FrontendAttrs: attributes, ...push('ghcr.io/a/b') }, ids, WITHOUT, [])).toEqual({
      Ref: 'build-1',
      Session: 'session-1',
      Frontend: 'dockerfile.v0',
      FrontendAttrs: {
        filename: 'Dockerfile',
        'build-arg:BUILDKIT_CACHE_MOUNT_NS': 'uid-of-ann',
        hostname: 'b-uid-of-ann',
        cmdline: 'dockerfile.v0',
      },
      ...push('ghcr.io/a/b'),
    })
  })

  test('scopedBuild drops unknown fields, and a source policy of the client', () => {
    const known = encodeMessage('moby.buildkit.v1.SolveRequest', { ...PLAIN })
    // Field 2 is a graph of steps, 10 inputs of the frontend, 12 a policy of sources, 14 exporters of the session.
    const others = [2, 10].flatMap(id => [id * 8 + 2, 3, 1, 2, 3])
    // The policy allows everything.
    const policy = [12 * 8 + 2, 2, 8, 1]
    const bytes = Buffer.from([...known, ...others, ...policy, 14 * 8, 1])
    const request = decodeMessage('moby.buildkit.v1.SolveRequest', bytes)
    for (const scope of [SCOPE, WITHOUT]) {
      const sent = encodeMessage('moby.buildkit.v1.SolveRequest', { ...scopedBuild(request, ids, scope, []) })
      const again = encodeMessage('moby.buildkit.v1.SolveRequest', { ...scopedBuild(PLAIN, ids, scope, []) })
      expect(sent).toEqual(again)
    }
  })

  test.each<readonly [string, string, boolean]>([
    ['registry.example.com/team', 'registry.example.com/team/ann-1f2e3d4c/web:1', true],
    ['registry.example.com/team', 'registry.example.com/team/shared/base@sha256:0', true],
    ['registry.example.com/team', 'registry.example.com/team/bob-1f2e3d4c/web:1', false],
    ['registry.example.com/team', 'registry.example.com:443/team/bob-1f2e3d4c/web:1', false],
    ['registry.example.com/team', 'Registry.Example.COM/team/bob-1f2e3d4c/web:1', false],
    ['registry.example.com/team', 'registry.example.com/team/ann-2f2e3d4c/web:1', false],
    ['registry.example.com/team', 'registry.example.com/team/x-ann-1f2e3d4c/web:1', false],
    ['registry.example.com/team', 'registry.example.com/team/base/web:1', true],
    ['registry.example.com/team', 'registry.example.com/other/web:1', true],
    ['registry.example.com/team', 'registryxexample.com/team/bob-1f2e3d4c/web:1', true],
    ['registry.example.com', 'registry.example.com/bob-1f2e3d4c/web:1', false],
    ['registry.example.com:5000', 'registry.example.com:5000/bob-1f2e3d4c/web:1', false],
    ['registry.example.com:5000', 'registry.example.com:5000/ann-1f2e3d4c/web:1', true],
    ['registry.example.com', 'docker.io/library/node:22', true],
  ])('a build with the registry %s may use %s: %s', (registry, image, isAllowed) => {
    const scope = { ...SCOPE, images: { registry, place: 'ann-1f2e3d4c' } }
    const { SourcePolicy } = scopedBuild(PLAIN, ids, scope, ['ann-1f2e3d4c'])
    // BuildKit applies the last rule that matches. Its expressions are those of Go.
    const pattern = (text: string) => new RegExp(text.replace(/\(\?i:([^)]*)\)/, '($1)'), 'i')
    const last = SourcePolicy!.rules.findLast(({ selector }) =>
      pattern(selector.identifier).test(`docker-image://${image}`),
    )
    expect((last?.action ?? 0) === 0).toBe(isAllowed)
  })
})
