import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'

const cluster = findCluster()

/** Service with a health check: without one, it would have to run for 13 s before a deploy reports it ready. */
const SLEEP = `image: busybox:1.37
    command: [httpd, -f, -p, "8080"]
    stop_grace_period: 0s
    healthcheck: {http: {path: /etc/passwd, port: 8080}, interval: 1s, retries: 100}`

async function deploy({ devctl }: Project, ...args: readonly string[]): Promise<string> {
  const { status, stderr } = await devctl('deploy', '--wait', ...args)
  expect(status, stderr).toBe(0)
  return stderr
}

/** Returns the output of a diff, and fails if the diff changed anything. */
async function diff({ devctl }: Project, ...args: readonly string[]): Promise<string> {
  const { status, stdout, stderr } = await devctl('diff', ...args)
  expect(status, stderr).toBe(0)
  return stdout
}

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

describe.skipIf(cluster === undefined)('changes of Pods by a deploy', () => {
  afterAll(() => cluster?.close())

  it('a StatefulSet with a changed immutable field is recreated; its data and its claims stay', async project => {
    const mounts = (text: string) => project.compose(`services:\n  db:\n    ${SLEEP}\n    volumes: [${text}]\n`)
    mounts('/data')
    await deploy(project)
    await project.kubectl('exec', 'db-0', '--', 'sh', '-c', 'echo kept > /data/file')
    const before = await project.get('statefulset/db')
    mounts('/data, /more')
    expect(await diff(project)).toMatch(
      /! statefulset\/db +an immutable field changes: it is created again; its Pods and claims stay/,
    )
    await deploy(project)
    expect((await project.get('statefulset/db')).metadata.uid).not.toBe(before.metadata.uid)
    expect(await project.kubectl('exec', 'db-0', '--', 'cat', '/data/file')).toBe('kept\n')
    expect((await project.kubectl('get', 'pvc', '--output=name')).trim().split('\n')).toHaveLength(2)
  })

  it('a changed secret updates the Pods, and its values appear in no output', async project => {
    project.compose(`services:\n  web:\n    ${SLEEP}\n    secrets: [token]\nsecrets: {token: {file: ./token}}\n`)
    project.write('token', 'first-secret-value')
    let said = await deploy(project, '--loglevel', 'debug')
    const { metadata } = await project.get('deployment/web')
    expect(await deploy(project)).toContain('is up to date')
    project.write('token', 'other-secret-value')
    said += await diff(project, '--loglevel', 'debug')
    said += (await project.devctl('diff', '--output', 'json')).stdout
    said += await deploy(project, '--loglevel', 'debug', '--output', 'json')
    expect((await project.get('deployment/web')).metadata.generation).toBe((metadata.generation ?? 0) + 1)
    expect(await project.kubectl('exec', 'deployment/web', '--', 'cat', '/run/secrets/token')).toBe(
      'other-secret-value',
    )
    for (const value of ['first-secret-value', 'other-secret-value'])
      for (const text of [value, Buffer.from(value).toString('base64')]) expect(said).not.toContain(text)
  })
})
