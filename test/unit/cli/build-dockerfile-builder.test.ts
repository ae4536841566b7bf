import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { byteStream, type MessageStream } from '../../../adapters/buildkit/connect.ts'
import { loadGrpc, serviceDefinition } from '../../../adapters/buildkit/protocol.ts'
import { frame, messagesIn } from '../../../adapters/buildkit/session/frames.ts'
import { decodeMessage, encodeMessage } from '../../../adapters/buildkit/wire.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { kubeconfigWith } from '../../support/contexts/kubeconfig.ts'
import { run } from '../../support/run.ts'

// Nothing listens at these addresses, so the error names the builder that was chosen, and what chose it.
const CONTEXTS = {
  'kind-dev': { builder: 'tcp://127.0.0.1:9' },
  prod: { builder: 'tcp://127.0.0.1:10' },
}

/** Builds a Dockerfile on a laptop with these contexts; the current context of the kubeconfig is `kind-dev`. */
function build(stored: object, words: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const cwd = makeFolder({
    Dockerfile: 'FROM scratch\n',
    '.kube/config': kubeconfigWith({ 'kind-dev': 'shop', prod: undefined }),
    'devctl/contexts.json': JSON.stringify(stored),
  })
  const env = { HOME: cwd, DEVCTL_HOME: 'devctl', CI: '1', DOCKER_HOST: 'tcp://127.0.0.1:11', ...more }
  return run(['build', '-f', 'Dockerfile', ...words], { cwd, env })
}

describe('the builder of a Dockerfile', () => {
  test.each<[string, string | undefined, readonly string[], Readonly<Record<string, string>>, string]>([
    ['of `--context`', 'kind-dev', ['--context', 'prod'], { DEVCTL_CONTEXT: 'kind-dev' }, 'prod'],
    ['of DEVCTL_CONTEXT', 'kind-dev', [], { DEVCTL_CONTEXT: 'prod' }, 'prod'],
    ['that is the current one', 'prod', [], {}, 'prod'],
    ['that is the current one of the kubeconfig', undefined, [], {}, 'kind-dev'],
  ])('the builder is that of the context %s', async (_, current, words, env, chosen) => {
    const { status, stderr } = await build({ contexts: CONTEXTS, ...(current && { current }) }, words, env)
    expect(stderr).toContain(`the builder is that of the context \`${chosen}\``)
    expect(status).toBe(1)
  })

  test('a context that `--context` names must exist, and that of a variable need not', async () => {
    const wrong = await build({ contexts: CONTEXTS }, ['--context', 'prodd'])
    expect(wrong).toMatchObject({ status: 1, stderr: expect.stringContaining('context `prodd` does not exist') })
    const gone = await build({ contexts: CONTEXTS }, [], { DEVCTL_CONTEXT: 'prodd' })
    expect(gone.stderr).toContain('the builder is the Docker Engine of `DOCKER_HOST`')
  })

  test.each([
    ['DEVCTL_URL', {}, { DEVCTL_URL: 'https://platform.example.com' }],
    ['the current context', { current: 'https://platform.example.com' }, {}],
  ])('a platform that %s names is not skipped', async (_, stored, env) => {
    const { status, stderr } = await build({ contexts: CONTEXTS, ...stored }, [], env)
    expect(stderr).toContain('you are not logged in to `https://platform.example.com`')
    expect(status).toBe(1)
  })
})

describe('a Dockerfile that is built with a platform', () => {
  const REGISTRY = 'images.dev.example.com'

  test('the builders of the platform are asked first, for the namespace', async () => {
    const { url, asked } = await platform()
    const stored = { contexts: { [url]: { token: 'devctl_cli_x', namespace: 'shop' } } }
    for (const [words, env] of [
      [['--context', url], {}],
      [[], { DEVCTL_CONTEXT: url }],
    ] as const) {
      asked.length = 0
      const { stderr } = await build(stored, words, env)
      expect(asked).toContain('/builders/connect?namespace=shop')
      // The platform of the test has no builders, and nothing listens at DOCKER_HOST.
      expect(stderr).toContain('this platform has no builders')
    }
  })

  test('a builder gets the login of the namespace for the registry of the platform only', async () => {
    const { url } = await platform()
    const { address, logins } = await builderThatWantsLogins([REGISTRY, 'other.example.com'])
    const stored = { current: url, contexts: { [url]: { token: 'devctl_cli_x', namespace: 'shop', builder: address } } }
    const { stderr } = await build(stored, ['--tag', `${REGISTRY}/shop/tool:1`])
    expect(stderr).toContain('enough was seen')
    expect(stderr).not.toContain('hunter2')
    expect(logins).toEqual([
      [REGISTRY, 'namespace', 'hunter2-secret'],
      ['other.example.com', undefined, undefined],
    ])
  })

  test('a user who may not deploy to the namespace builds elsewhere, without that login', async () => {
    const { url } = await platform(true)
    const { address, logins } = await builderThatWantsLogins([REGISTRY])
    const stored = { current: url, contexts: { [url]: { token: 'devctl_cli_x', namespace: 'shop', builder: address } } }
    expect((await build(stored, [])).stderr).toContain('enough was seen')
    expect(logins).toEqual([[REGISTRY, undefined, undefined]])
  })

  test('a platform that does not answer does not prevent a build elsewhere', async () => {
    const url = 'http://127.0.0.1:9'
    const { address, logins } = await builderThatWantsLogins([REGISTRY])
    const stored = { token: 'devctl_cli_x', namespace: 'shop' }
    const own = await build({ current: url, contexts: { [url]: { ...stored, builder: address } } }, [])
    expect(own.stderr).toContain('warning: builds without a login for the registry of the platform: ')
    expect(own.stderr).toContain('enough was seen')
    expect(logins).toEqual([[REGISTRY, undefined, undefined]])
    const { stderr } = await build({ current: url, contexts: { [url]: stored } }, [])
    expect(stderr).toMatch(/^error: .*127\.0\.0\.1:9/)
  })

  /** Starts a platform with a registry and without builders; `asked` has the paths of its requests. */
  async function platform(refuses = false) {
    const asked: string[] = []
    const images = { name: `${REGISTRY}/shop`, hasLogin: true }
    const expires = new Date(Date.now() + 3600_000).toISOString()
    const answers: Readonly<Record<string, object>> = {
      ...(!refuses && { '/namespaces/shop/variables/effective': { variables: [], unreadable: [], images } }),
      '/namespaces/shop/registry-login': { username: 'namespace', password: 'hunter2-secret', expires },
    }
    const refusal = refuses
      ? { code: 'platform/not-allowed', message: 'only the owner or a developer of `shop` may deploy there' }
      : { code: 'platform/no-builders', message: 'this platform has no builders' }
    const server = createServer(({ url = '' }, response) => {
      const path = url.replace('/api/v1', '')
      asked.push(path)
      const answer = answers[path]
      response.writeHead(answer ? 200 : 403, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer ?? refusal))
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
  }

  /** A BuildKit that asks for the logins of registries, builds nothing, and gives what it got. */
  async function builderThatWantsLogins(hosts: readonly string[]) {
    const logins: unknown[] = []
    const grpc = await loadGrpc()
    const server = new grpc.Server()
    let begin: (stream: MessageStream) => void
    const session = new Promise<MessageStream>(resolve => {
      begin = resolve
    })
    server.addService(
      serviceDefinition('moby.buildkit.v1.Control') as never,
      {
        Info: (_: unknown, done: (error: null, answer: object) => void) =>
          done(null, { buildkitVersion: { version: 'v0.30.0' } }),
        Session: (call: MessageStream) => begin(Object.assign(call, { cancel: () => call.end() })),
        Solve: async (_: unknown, done: (error: object) => void) => {
          const connection = byteStream(await session)
          const client = connectHttp2('http://devctl', { createConnection: () => connection })
          for (const host of hosts) {
            const call = client.request({
              ':method': 'POST',
              ':path': '/moby.filesync.v1.Auth/Credentials',
              'content-type': 'application/grpc',
              te: 'trailers',
            })
            call.end(Buffer.concat(frame(encodeMessage('moby.filesync.v1.CredentialsRequest', { Host: host }))))
            for await (const bytes of messagesIn(call, message => message)) {
              const { Username, Secret } = decodeMessage('moby.filesync.v1.CredentialsResponse', bytes)
              logins.push([host, Username, Secret])
            }
          }
          done({ code: grpc.status.INVALID_ARGUMENT, details: 'enough was seen' })
          client.close()
        },
        Status: (call: MessageStream) => call.end(),
      } as never,
    )
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error ? reject(error) : resolve(bound),
      )
    })
    onTestFinished(() => server.forceShutdown())
    return { address: `tcp://127.0.0.1:${port}`, logins }
  }
})
