import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

const COMPOSE = `services:
  web:
    image: busybox:1.37
    command: [sleep, "3600"]
    healthcheck: {test: "true"}
    volumes: [data:/data]
volumes: {data: {}}
`

describe.skipIf(cluster === undefined)('destroy', () => {
  playPods()
  afterAll(() => cluster?.close())

  it('destroy succeeds in a namespace that does not exist, and reports it', async project => {
    project.compose(COMPOSE)
    const gone = `${project.name}-gone`
    for (const args of [[], ['web'], ['--volumes', '--wait'], ['--all', '--yes']]) {
      const { status, stdout, stderr } = await project.devctl('destroy', '-n', gone, ...args)
      expect(status, stderr).toBe(0)
      expect(stdout).toBe('')
      const subject = args[0] === 'web' ? `web of ${project.name}` : project.name
      expect(stderr).toContain(`namespace ${gone} does not exist: nothing to destroy for ${subject}\n`)
      expect(stderr).not.toContain('kept')
    }
    expect(await project.devctl('destroy', '-n', gone, 'wbe')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('service `wbe` does not exist'),
    })
    rmSync(join(project.directory, 'compose.yaml'))
    expect(await project.devctl('destroy', '-n', gone, 'web')).toMatchObject({ status: 0 })
    expect((await project.devctl('destroy', '-n', `${project.name}x`)).stderr).toContain(
      `if ${project.name}x is a spelling mistake: did you mean \`${project.name}\`?`,
    )
  })

  it('destroy runs the commands of the manifest in a namespace that does not exist', async project => {
    project.compose(COMPOSE)
    const destroyed = join(project.directory, 'destroyed.txt')
    project.write(
      'devctl.yml',
      `deploy: {compose: compose.yaml}
destroy:
  - echo "$DEVCTL_NAME of $DEVCTL_NAMESPACE" > destroyed.txt
  - test ! -e broken
`,
    )
    const gone = `${project.name}-gone`
    const { status, stderr } = await project.devctl('destroy', '-n', gone)
    expect(status, stderr).toBe(0)
    expect(readFileSync(destroyed, 'utf8')).toBe(`${project.name} of ${gone}\n`)
    expect(stderr).toContain('the commands of `destroy` run without the variables of the last deploy')
    rmSync(destroyed)
    expect(await project.devctl('destroy', '-n', gone, 'web')).toMatchObject({ status: 0 })
    expect(existsSync(destroyed), 'they are for the whole environment').toBe(false)
    project.write('broken', '')
    expect(await project.devctl('destroy', '-n', gone)).toMatchObject({ status: 1 })
  })

  it('destroy reports no kept claim in a namespace that is being deleted', async project => {
    project.compose(COMPOSE)
    expect(await project.devctl('deploy')).toMatchObject({ status: 0 })
    expect(await project.kubectl('get', 'pvc', '--output=name')).not.toBe('')
    // Its finalizer keeps the namespace from ending.
    await project.kubectl('create', 'configmap', 'held')
    await project.patch('configmap/held', { metadata: { finalizers: ['example.com/hold'] } })
    try {
      await cluster!.deleteNamespace(project.name)
      for (const args of [['--wait'], []]) {
        const { status, stderr } = await project.devctl('destroy', ...args)
        expect(status, stderr).toBe(0)
        expect(stderr).not.toContain('kept')
      }
      expect(await project.kubectl('get', 'deploy,statefulset,service,lease', '--output=name')).toBe('')
    } finally {
      await project.patch('configmap/held', { metadata: { finalizers: null } })
    }
  })
})
