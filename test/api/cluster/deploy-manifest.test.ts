import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { findCluster } from '../../support/cluster/cluster.ts'
import { objectsIn } from '../../support/cluster/objects.ts'
import { playPods } from '../../support/cluster/play-pods.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { few } from '../../support/takes-all.ts'

const cluster = findCluster()

const it = (name: string, body: (project: Project) => Promise<void>) =>
  test.concurrent(name, () => withProject(cluster!, body))

/** A service with a health check: without one, it has to run for 13 s before a deploy calls it ready. */
const SLEEP = 'image: busybox:1.37\n    command: [sleep, "3600"]\n    healthcheck: {test: "true"}'

describe.skipIf(cluster === undefined)('deploy and destroy with a manifest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'devctl-repositories-'))
  playPods()
  afterAll(() => {
    cluster?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Creates a repository with these files and returns its address. */
  function repository(name: string, files: Readonly<Record<string, string>>): string {
    const path = join(folder, name)
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', '-C', path, ...args])
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', path])
    for (const [file, text] of Object.entries(files)) writeFileSync(join(path, file), text)
    git('add', '.')
    git('commit', '--quiet', '-m', 'first')
    return `file://${path}`
  }

  it('deploy labels objects of its commands for the environment, and destroy deletes them', async project => {
    const { devctl, name } = project
    const before = await objectsIn(cluster!, name)
    project.write(
      'devctl.yml',
      `deploy:
  commands:
    - name: configuration
      command: |
        kubectl create configmap extra --from-literal=a=b
        echo REPLICAS=2 >> $DEVCTL_ENV
        echo "in $(basename $PWD) to $DEVCTL_NAMESPACE with $API_TOKEN"
    - name: second
      command: echo "second sees $REPLICAS"
  compose: compose.yaml
destroy:
  - echo "taking $DEVCTL_NAME away, $REPLICAS of it" > destroyed.txt
`,
    )
    project.compose(`services:\n  web:\n    ${SLEEP}\n    scale: \${REPLICAS:-1}\n`)
    const deployed = await devctl('deploy', '--wait', '--var', 'API_TOKEN=a-secret-value')
    expect(deployed.status, deployed.stderr).toBe(0)
    expect(deployed.stderr).toMatch(/configuration \| in devctl-project-\w+ to p[\w-]+ with \*\*\*\n/)
    expect(deployed.stderr).toContain('second | second sees 2')
    expect(deployed.stderr + deployed.stdout).not.toContain('a-secret-value')
    const extra = await project.get('configmap/extra')
    expect(extra.metadata.labels?.['dev.platform/environment']).toBe(name)
    expect((await project.get('deployment/web')).spec['replicas']).toBe(2)

    const diff = await devctl('diff', '--exit-code')
    expect(diff.status, diff.stdout + diff.stderr).toBe(0)

    project.write(
      'devctl.yml',
      'deploy:\n  commands: [echo nothing]\n  compose: compose.yaml\ndestroy:\n  - echo "taking $DEVCTL_NAME away" > destroyed.txt\n',
    )
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    expect((await devctl('deploy')).status).toBe(0)
    expect((await project.get('configmap/extra')).metadata.uid, 'what a command made stays').toBe(extra.metadata.uid)

    const destroyed = await devctl('destroy', '--wait')
    expect(destroyed.status, destroyed.stderr).toBe(0)
    expect(await objectsIn(cluster!, name)).toEqual(before)
    expect((await devctl('destroy')).stderr).toContain('nothing to destroy for')
  })

  it('deploy masks a secret that equals a name of the project only as a whole value', async project => {
    const { devctl, name } = project
    project.write(
      'devctl.yml',
      `deploy:
  commands:
    - 'echo "key=$API_TOKEN https://$API_TOKEN-web.example.com $DEVCTL_NAMESPACE/$HOST_TOKEN"; echo "$HOST_TOKEN"'
  compose: compose.yaml
`,
    )
    project.compose(`services:\n  web-frontend:\n    ${SLEEP}\n    environment: {API_TOKEN: "\${API_TOKEN}"}\n`)
    const tokens = ['--var', `API_TOKEN=${name}`, '--var', 'HOST_TOKEN=web-frontend']
    const deployed = await devctl('deploy', '--wait', ...tokens)
    expect(deployed.status, deployed.stderr).toBe(0)
    expect(deployed.stderr).toContain(`key=*** https://${name}-web.example.com ${name}/web-frontend\n`)
    expect(deployed.stderr).toMatch(/\| \*\*\*\n/)
    expect(deployed.stderr).toMatch(/deployment\/web-frontend|web-frontend: /)
    expect(deployed.stderr.match(/\*\*\*/g)).toHaveLength(2)
  })

  it('deploy and diff warn of an unset variable only if no command sets it', async ({ devctl, ...project }) => {
    project.write(
      'devctl.yml',
      'deploy:\n  commands: [\'echo "ADDRESS=http://db" >> $DEVCTL_ENV\']\n  compose: compose.yaml\n',
    )
    project.compose(`services:\n  web:\n    ${SLEEP}\n    environment: {A: "\${ADDRESS}", B: "\${OTHER}"}\n`)
    const lines = [
      ['deploy', '--output=text'],
      ['diff', '--output=json'],
      ['deploy', 'web', '--output=text', '--all-warnings'],
      ['deploy', '--output=json', '--all-warnings'],
      ['diff', '--output=text'],
      ['deploy', 'web', '--output=json', '--all-warnings'],
    ] as const
    for (const [command, ...words] of few<(typeof lines)[number]>(lines, 2)) {
      const { status, stdout, stderr } = await devctl(command, ...words)
      expect(status, stderr).toBe(0)
      expect(stdout + stderr).not.toContain('`ADDRESS` is not set')
      expect((stdout + stderr).match(/`OTHER` is not set/g), `${command} ${words}`).toHaveLength(1)
    }
    const env = (await project.get('deployment/web')).spec as { template: { spec: { containers: [{ env: object }] } } }
    expect(env.template.spec.containers[0].env).toContainEqual({ name: 'A', value: 'http://db' })
  })

  it('deploy stops at the first command that fails, and reports its line', async project => {
    project.write('devctl.yml', 'deploy:\n  - echo one\n  - "echo two >&2; exit 3"\n  - echo three\n')
    const { status, stderr } = await project.devctl('deploy')
    expect(status).toBe(1)
    expect(stderr).toMatch(/error\[deploy\/command-failed\].*\n {2}--> devctl\.yml:3:/)
    expect(stderr).toContain('3')
    expect(stderr).not.toContain('| three')
    expect(await project.kubectl('get', 'leases', '--output=name')).toBe('')
  })

  it('destroy deletes nothing when a command fails, and works when it is run again', async project => {
    project.write('devctl.yml', 'deploy: {compose: compose.yaml}\ndestroy: ["test -e mended"]\n')
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    expect((await project.devctl('deploy')).status).toBe(0)
    const { status, stderr } = await project.devctl('destroy')
    expect(status).toBe(1)
    expect(stderr).toContain('nothing was deleted yet')
    expect((await project.get('deployment/web')).metadata.name).toBe('web')
    project.write('mended', '')
    expect((await project.devctl('destroy')).status).toBe(0)
  })

  it('deploy deploys dependencies first and once, and destroy --all destroys them', async project => {
    const deep = repository(`deep-${project.name}`, {
      'compose.yaml': `services:\n  deep:\n    ${SLEEP}\n`,
    })
    const api = repository(`api-${project.name}`, {
      'devctl.yml': `deploy:\n  commands: ['echo "ADDRESS=api:$FLAVOUR" >> $DEVCTL_ENV']\n  compose: compose.yaml\ndependencies:\n  deep: {repository: "${deep}"}\n`,
      'compose.yaml': `services:\n  api:\n    ${SLEEP}\n`,
    })
    project.write(
      'devctl.yml',
      `deploy:\n  commands: ['echo "api is at $DEVCTL_DEPENDENCY_API_VARIABLE_ADDRESS"']\n  compose: compose.yaml\ndependencies:\n  api: {repository: "${api}", wait: true, variables: {FLAVOUR: plain}}\n`,
    )
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    const first = await project.devctl('deploy', '--wait')
    expect(first.status, first.stderr).toBe(0)
    expect(first.stderr).toContain('api is at api:plain')
    const order = ['deep', 'api', 'web'].map(service => first.stderr.indexOf(`${service}: Deployment`))
    expect(order[0]).toBeLessThan(order[1]!)
    expect(order[1]).toBeLessThan(order[2]!)
    const uid = (await project.get('deployment/api')).metadata.uid

    const second = await project.devctl('deploy', '--wait')
    expect(second.stderr).toContain('api is already deployed')
    expect(second.stderr).toContain('api is at api:plain')
    expect((await project.devctl('destroy', '--wait')).stderr).toContain('dependencies not destroyed: api')
    expect((await project.get('deployment/api')).metadata.uid).toBe(uid)
    expect((await project.devctl('deploy')).status).toBe(0)
    const all = await project.devctl('destroy', '--all', '--yes', '--wait')
    expect(all.status, all.stderr).toBe(0)
    expect(await project.kubectl('get', 'deployments', '--output=name')).toBe('')
  })

  it('deploy refuses circular dependencies and repositories that do not exist', async project => {
    const a = join(folder, `a-${project.name}`)
    repository(`a-${project.name}`, {
      'devctl.yml': `deploy: {compose: compose.yaml}\ndependencies:\n  again: {repository: "file://${a}"}\n`,
      'compose.yaml': `services:\n  a:\n    ${SLEEP}\n`,
    })
    project.write('devctl.yml', `deploy: {compose: compose.yaml}\ndependencies:\n  a: {repository: "file://${a}"}\n`)
    project.compose(`services:\n  web:\n    ${SLEEP}\n`)
    const circle = await project.devctl('deploy')
    expect(circle.status).toBe(1)
    expect(circle.stderr).toContain('depends on itself')
    project.write(
      'devctl.yml',
      `deploy: {compose: compose.yaml}\ndependencies:\n  a: {repository: "file://${a}-not"}\n`,
    )
    const missing = await project.devctl('deploy')
    expect(missing.status).toBe(1)
    expect(missing.stderr).toContain('error: the dependency `a` cannot be cloned')
    expect(missing.stderr).toContain('devctl.yml:3')
    // A repository address that makes git run a program is refused, and the program does not run.
    project.write(
      'devctl.yml',
      `deploy: {compose: compose.yaml}\ndependencies:\n  a: {repository: "ext::touch% ${project.directory}/ran"}\n`,
    )
    expect((await project.devctl('deploy')).status).toBe(1)
    expect(existsSync(join(project.directory, 'ran'))).toBe(false)
  })
})
