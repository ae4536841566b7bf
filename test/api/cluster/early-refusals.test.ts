import { existsSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { type Result, run } from '../../support/run.ts'

// Errors that fail a deploy in any case are reported before an image is built or a command runs. The builder and the
// registry are one server that counts its connections and closes each one.

const cluster = findCluster()

const COMPOSE = `services:
  web:
    build: .
    expose: [80]
    volumes: [".:/app"]
`
const COMMANDS = 'deploy:\n  commands: [touch ran.txt]\n  compose: compose.yaml\n'
/** An object of another environment in the same namespace. */
const OTHER = 'services:\n  web: {image: "busybox:1.37", expose: [80], command: [sleep, "3600"]}\n'

describe.skipIf(cluster === undefined)('refusals of deploy before a build', () => {
  playPods()
  const connections: string[] = []
  const server = createServer(socket => {
    connections.push(`from ${socket.remotePort}`)
    socket.destroy()
  })
  let address: string
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => {
    server.close()
    cluster?.close()
  })

  const devctl = (project: Project, command: string, ...args: readonly string[]): Promise<Result> =>
    run([command, '--namespace', project.name, ...args], {
      cwd: project.directory,
      env: {
        KUBECONFIG: process.env.KUBECONFIG ?? '',
        DEVCTL_HOME: join(project.directory, '.home'),
        DEVCTL_REGISTRY: address,
        BUILDKIT_HOST: `tcp://${address}`,
      },
    })

  /** Checks that a deploy is refused with this text, and that nothing is built or run. */
  async function expectRefused(project: Project, said: string | RegExp, ...args: readonly string[]): Promise<void> {
    const { status, stderr } = await devctl(project, 'deploy', '--name', project.name, ...args)
    expect(stderr).toMatch(said)
    expect(status).toBe(1)
    expect(connections, stderr).toEqual([])
    expect(existsSync(join(project.directory, 'ran.txt'))).toBe(false)
  }

  const it = (name: string, body: (project: Project) => Promise<void>) =>
    test(name, () =>
      withProject(cluster!, async project => {
        connections.length = 0
        project.write('Dockerfile', 'FROM busybox:1.37\n')
        await body(project)
      }),
    )

  it('deploy refuses the name of a service of another environment before a build or a command', async project => {
    project.compose(OTHER)
    expect(await devctl(project, 'deploy', '--name', 'other')).toMatchObject({ status: 0 })
    const expected = /`(service|deployment)\/web` already exists and belongs to the environment `other`/
    project.compose(COMPOSE)
    await expectRefused(project, expected)
    await expectRefused(project, expected, 'web')
    const up = await devctl(project, 'up', '--deploy', 'web', '--', 'true')
    expect(up.stderr).toMatch(expected)
    expect(connections).toEqual([])
    project.write('devctl.yml', COMMANDS)
    await expectRefused(project, expected)
    await expectRefused(project, expected, '--adopt')
    project.write('devctl.yml', `build: {tools: {context: .}}\n${COMMANDS}`)
    project.compose(OTHER)
    await expectRefused(project, expected)
  })

  it('deploy refuses an object that devctl does not manage before a build, unless it adopts it', async project => {
    await project.kubectl('create', 'service', 'clusterip', 'web', '--tcp=80')
    project.compose(COMPOSE)
    await expectRefused(project, '`service/web` already exists and is not managed by devctl')
    const adopted = await devctl(project, 'deploy', '--name', project.name, '--adopt')
    expect(adopted.stderr).not.toContain('already exists')
    expect(connections.length, adopted.stderr).toBeGreaterThan(0)
  })

  it('deploy refuses a missing namespace, or one that is being deleted, before a build', async project => {
    project.compose(COMPOSE)
    await expectRefused(project, `namespace \`${project.name}x\` does not exist`, '--namespace', `${project.name}x`)
    project.write('devctl.yml', COMMANDS)
    await expectRefused(project, `namespace \`${project.name}x\` does not exist`, '--namespace', `${project.name}x`)
    await project.kubectl('create', 'configmap', 'held')
    await project.patch('configmap/held', { metadata: { finalizers: ['example.com/hold'] } })
    try {
      await cluster!.deleteNamespace(project.name)
      await expectRefused(project, `the namespace \`${project.name}\` is being deleted`)
    } finally {
      await project.patch('configmap/held', { metadata: { finalizers: null } })
    }
  })

  it('deploy refuses another source and an unknown service of --rerun before a build', async project => {
    project.compose(OTHER)
    project.write('other.yaml', OTHER)
    expect(await devctl(project, 'deploy', '--name', project.name, '-f', 'other.yaml')).toMatchObject({ status: 0 })
    project.compose(COMPOSE)
    await expectRefused(project, `\`${project.name}\` was deployed from another file`)
    await expectRefused(project, 'service `wbe` does not exist', '--rerun', 'wbe', '--take-over')
  })
})
