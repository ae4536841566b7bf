import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { few, TAKES_ALL } from '../../support/takes-all.ts'
import { type Review, type Verdict, WebhookServer } from './webhook-server.ts'

const cluster = findCluster()

const COMPOSE = `services:
  web:
    image: busybox:1.37
    command: [sleep, "3600"]
    environment: {A: b}
    expose: [8080]
    stop_grace_period: 0s
    healthcheck: {test: [CMD, "true"], interval: 3s}
`

/** Declares a test of a project in whose namespace a webhook reviews Deployments, Services and Pods. */
const it = (
  name: string,
  kind: 'Validating' | 'Mutating',
  decide: (review: Review) => Verdict,
  body: (project: Project, webhook: string, server: WebhookServer) => Promise<void>,
  seconds = 1,
) =>
  test.concurrent(name, () =>
    withProject(cluster!, async project => {
      const webhook = `${kind.toLowerCase()}.${project.name}.example.com`
      const server = new WebhookServer(decide)
      project.compose(COMPOSE)
      try {
        const resources = ['deployments', 'services', 'pods']
        await server.register(cluster!, kind, { namespace: project.name, name: webhook, resources, seconds })
        await body(project, webhook, server)
      } finally {
        await server.close(cluster!, kind, webhook)
      }
    }),
  )

const sidecar = {
  name: 'proxy',
  image: 'busybox:1.37',
  command: ['sleep', '3600'],
  readinessProbe: { exec: { command: ['true'] }, periodSeconds: 1 },
}

let count = 0

/** Adds a label to all objects and a new annotation each time; Deployments and Pods also get a container. */
function mutate({ kind, object, operation }: Review): Verdict {
  if (operation === 'DELETE') return 'allow'
  const metadata = (object?.['metadata'] ?? {}) as { readonly labels?: object; readonly annotations?: object }
  const labels = { ...metadata.labels, 'example.com/mesh': 'on' }
  const annotations = { ...metadata.annotations, 'example.com/seen': `${++count}` }
  const add = (path: string, value: unknown) => ({ op: 'add' as const, path, value })
  const inside = kind.kind === 'Deployment' ? '/spec/template/spec/containers' : '/spec/containers'
  const { containers = [] } = specOf(object, kind.kind)
  const hasSidecar = containers.some(({ name }) => name === sidecar.name)
  const wantsSidecar = kind.kind !== 'Service' && operation === 'CREATE' && !hasSidecar
  const env = add(`${inside}/0/env/-`, { name: 'MESH', value: 'on' })
  return {
    patch: [
      add('/metadata/labels', labels),
      add('/metadata/annotations', annotations),
      ...(wantsSidecar ? [add(`${inside}/-`, sidecar), env] : []),
    ],
  }
}

interface PodSpec {
  readonly containers?: readonly { readonly name: string }[]
}

function specOf(object: Review['object'], kind: string): PodSpec {
  const spec = (object?.['spec'] ?? {}) as PodSpec & { readonly template?: { readonly spec?: PodSpec } }
  return kind === 'Deployment' ? (spec.template?.spec ?? {}) : spec
}

describe.skipIf(cluster === undefined)('admission webhooks', () => {
  playPods()
  afterAll(() => cluster?.close())

  it(
    'deploy names a webhook that refuses a Deployment, and writes nothing',
    'Validating',
    ({ kind }) => (kind.kind === 'Deployment' ? { refuse: 'only images of registry.example.com' } : 'allow'),
    async (project, webhook) => {
      const { status, stderr } = await project.devctl('deploy')
      expect(status, stderr).toBe(1)
      expect(stderr).toContain(`error: the admission webhook \`${webhook}\` denied \`deployment/web\``)
      expect(stderr).toContain('only images of registry.example.com')
      expect(stderr).toContain('rendered from compose.yaml#services.web')
      expect(await project.kubectl('get', 'service,deployment', '--output=name')).toBe('')
    },
  )

  it(
    'deploy names a webhook that refuses Pods while it waits for them',
    'Validating',
    ({ kind, operation }) => (kind.kind === 'Pod' && operation === 'CREATE' ? { refuse: 'no Pods today' } : 'allow'),
    async (project, webhook) => {
      const { status, stderr } = await project.devctl('deploy', '--wait', '--timeout', '150s')
      expect(status, stderr).toBe(1)
      expect(stderr).toContain(`error[deploy/refused]: the admission webhook \`${webhook}\` denied the Pods of \`web\``)
      expect(stderr).toContain('no Pods today')
      expect(stderr).not.toContain('not done within')
    },
  )

  if (TAKES_ALL)
    it(
      'destroy names a webhook that refuses a deletion',
      'Validating',
      ({ kind, operation }) =>
        kind.kind === 'Service' && operation === 'DELETE' ? { refuse: 'ask me first' } : 'allow',
      async (project, webhook) => {
        expect(await project.devctl('deploy')).toMatchObject({ status: 0 })
        const { status, stderr } = await project.devctl('destroy')
        expect(status, stderr).toBe(1)
        expect(stderr).toContain(`error: the admission webhook \`${webhook}\` denied the deletion of \`service/web\``)
        expect(stderr).toContain('ask me first')
      },
    )

  it(
    'deploy names a webhook that does not answer',
    'Validating',
    ({ kind }) => (kind.kind === 'Deployment' ? 'hang' : 'allow'),
    async (project, webhook) => {
      const began = Date.now()
      const { status, stderr } = await project.devctl('deploy')
      expect(status, stderr).toBe(1)
      expect(stderr).toContain(`error: the admission webhook \`${webhook}\` does not answer`)
      expect(stderr).toContain('`deployment/web`')
      expect(Date.now() - began, stderr).toBeLessThan(45_000)
    },
  )

  if (TAKES_ALL)
    it(
      'deploy names a webhook that does not answer before the deadline of the deploy',
      'Validating',
      ({ kind }) => (kind.kind === 'Deployment' ? 'hang' : 'allow'),
      async (project, webhook) => {
        const { status, stderr } = await project.devctl('deploy', '--timeout', '15s')
        expect(status, stderr).toBe(1)
        expect(stderr).toMatch(/`PATCH` of `deployments\/web` has had no answer for \d/)
        expect(stderr).toContain(`\`${webhook}\` (timeout 30 s)`)
      },
      30,
    )

  it('fields that a webhook sets are no differences', 'Mutating', mutate, async (project, _, server) => {
    const { devctl, kubectl, get } = project
    const first = await devctl('deploy', '--wait', '--timeout', '150s')
    expect(first.status, first.stderr).toBe(0)
    const { metadata, spec } = await get('deployment/web')
    expect(metadata.labels?.['example.com/mesh']).toBe('on')
    expect(JSON.stringify(spec)).toContain('"name":"proxy"')
    server.asked.splice(0)
    for (const command of few([['deploy', '--wait'], ['deploy']])) {
      const again = await devctl(command[0]!, ...command.slice(1))
      expect(again.stderr).toContain('is up to date')
      expect(again.stderr).not.toContain('reverted')
    }
    expect(server.asked, 'it was asked by dry runs').toContain('UPDATE Deployment/web')
    const diff = await devctl('diff', '--exit-code')
    expect(diff.status, diff.stdout + diff.stderr).toBe(0)
    expect(diff.stdout).toBe('')

    project.compose(COMPOSE.replace('A: b', 'A: c'))
    const changed = await devctl('deploy', '--wait', '--timeout', '150s')
    expect(changed.status, changed.stderr).toBe(0)
    const env = await kubectl('get', 'deployment/web', '--output=jsonpath={.spec.template.spec.containers[0].env}')
    expect(JSON.parse(env)).toContainEqual({ name: 'A', value: 'c' })
    expect((await devctl('diff', '--exit-code')).status).toBe(0)
  })
})
