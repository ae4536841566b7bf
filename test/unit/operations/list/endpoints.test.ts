import { describe, expect, test } from 'vitest'
import { noEndpointsText } from '../../../../cli/terminal/print-endpoints.ts'
import { writeRecord } from '../../../../environment/record/record.ts'
import { endpoints } from '../../../../operations/list/endpoints.ts'
import { openProject } from '../../../../project/open-project.ts'
import type { Session } from '../../../../project/session.ts'
import { workspaceOf } from '../../../../project/workspace.ts'
import { makeFolder } from '../../../support/cli/folder.ts'
import { MemoryCluster } from '../../../support/memory-cluster/memory-cluster.ts'
import { never } from '../../../support/objects/deploying.ts'

interface Around {
  /** The text of the Compose file below `services:`; without it the file does not exist. */
  readonly services?: string
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly domain?: string
  /** The recorded application; without it the application is not deployed. */
  readonly deployed?: { readonly endpoints: readonly string[] }
  readonly asleep?: boolean
}

const DEPLOYED = { endpoints: [] }
const WEB = 'web: {image: x, ports: ["8080:80"]}'

/** Returns the reason for having no endpoints, its text, and the codes of the diagnostics that go with it. */
async function reasonWith({ services, files = {}, env = {}, domain, deployed, asleep }: Around) {
  const compose = services === undefined ? [] : [['compose.yaml', `name: shop\nservices:\n  ${services}\n`]]
  const workspace = workspaceOf({ cwd: makeFolder({ ...Object.fromEntries(compose), ...files }), env })
  const cluster = new MemoryCluster({ namespace: 'dev' })
  if (deployed) {
    const application = JSON.stringify({ services: [{ service: 'web', kind: 'Deployment', ...deployed }] })
    await writeRecord(cluster, 'shop', 'dev', { kinds: [], application }, {})
  }
  if (asleep) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', name: 'dev' }
    const live = (await cluster.get(namespace, {}))!
    await cluster.replace(
      { ...live, metadata: { ...live.metadata, labels: { 'dev.platform/status': 'Sleeping' } } },
      {},
    )
  }
  const target = { context: 'kind-dev', namespace: 'dev', stored: domain === undefined ? {} : { domain } }
  // The function uses no other fields of the session.
  const session = { cluster, namespace: 'dev', signal: never, target } as unknown as Session
  const codes: string[] = []
  const world = {
    workspace,
    session,
    on: (event: { readonly type: string; readonly diagnostics?: readonly { readonly code: string }[] }) => {
      codes.push(...(event.diagnostics ?? []).map(({ code }) => code))
    },
  }
  const { none } = await endpoints(world, { name: 'shop' }, await openProject(workspace, {}))
  return { none, text: none && noEndpointsText(none, target.context), codes }
}

describe('the reason for having no endpoints', () => {
  test('the reason is `not-deployed` if the application is not deployed', async () => {
    for (const asleep of [false, true])
      expect(await reasonWith({ services: WEB, asleep })).toEqual({
        none: 'not-deployed',
        text: 'it is not deployed there',
        codes: [],
      })
  })

  test.each([
    ['no ports', 'web: {image: x}'],
    ['ports for other services only', 'web: {image: x, expose: ["80"]}'],
    ['ports that are not published', 'web: {image: x, ports: [{target: 80}]}'],
  ])('the reason is `not-public` if no ports are published: %s', async (_, services) => {
    const found = await reasonWith({ services, deployed: DEPLOYED, domain: 'example.com' })
    expect(found).toMatchObject({ none: 'not-public', text: expect.stringContaining('no service has a public port') })
    expect(found.codes).toEqual([])
  })

  test.each([
    ['UDP', 'dns: {image: x, ports: ["53:53/udp"]}', ['ports/not-public']],
    [
      'another protocol',
      'mail: {image: x, ports: [{target: 25, published: "25", app_protocol: smtp}]}',
      ['ports/not-http'],
    ],
    ['a database', 'db: {image: x, ports: ["5432:5432"]}', ['ports/never-public']],
    ['this machine only', 'web: {image: x, ports: ["127.0.0.1:8080:80"]}', ['ports/loopback']],
    ['no network', 'web: {image: x, network_mode: none, ports: ["8080:80"]}', ['ports/no-network']],
    [
      'a load balancer',
      'mqtt: {image: x, ports: [{target: 1883, published: "1883", x-expose: {type: LoadBalancer}}]}',
      [],
    ],
  ])('the reason is `not-http` if published ports get no public address: %s', async (_, services, codes) => {
    for (const domain of ['example.com', undefined]) {
      const found = await reasonWith({ services, deployed: DEPLOYED, ...(domain && { domain }) })
      expect(found.none).toBe('not-http')
      expect(found.text).toContain('none of the published ports gets a public address; publish a port that serves HTTP')
      expect(found.codes).toEqual(codes)
    }
  })

  test.each([
    ['a published port', WEB, ''],
    ['an endpoint', 'web: {image: x, expose: ["80"]}', 'endpoints: [{path: /, service: web, port: 80}]'],
  ])('the reason is `no-domain` if no domain is set: %s', async (_, services, more) => {
    const around = { services: `${services}\n${more}`, deployed: DEPLOYED }
    for (const asleep of [false, true]) {
      const { none, text } = await reasonWith({ ...around, asleep })
      expect(none).toBe('no-domain')
      expect(text).toContain('no domain is set')
      expect(text).toContain('`devctl deploy --domain DOMAIN`')
      expect(text).toContain('`devctl context use kind-dev --domain DOMAIN`')
    }
  })

  test.each([
    ['the context or the platform', { domain: 'example.com' }],
    ['DEVCTL_DOMAIN', { env: { DEVCTL_DOMAIN: 'example.com' } }],
    ['the manifest', { files: { 'devctl.yml': 'domain: example.com\n' } }],
    ['a deploy before', { deployed: { endpoints: ['https://web-dev.example.com'] } }],
    ['its own host', { services: 'web: {image: x, ports: [{target: 80, published: "80", x-host: a.example.com}]}' }],
  ])('the reason is `no-routes` or `asleep` with a domain of %s', async (_, more) => {
    const around = { services: WEB, deployed: DEPLOYED, ...more }
    const { none, text } = await reasonWith(around)
    expect({ none, text }).toEqual({ none: 'no-routes', text: expect.stringContaining('its routes do not exist') })
    const asleep = await reasonWith({ ...around, asleep: true })
    expect(asleep).toMatchObject({ none: 'asleep', text: 'it sleeps; `devctl namespace wake` starts it' })
  })

  test.each([
    ['without files', {}],
    ['with files that have errors', { services: 'web: {image: x, ports: ["x"]}' }],
  ])('the reason is `unknown` %s', async (_, around) => {
    const { none, text } = await reasonWith({ ...around, deployed: DEPLOYED })
    expect({ none, text }).toEqual({ none: 'unknown', text: expect.stringContaining('do not tell why') })
  })
})
