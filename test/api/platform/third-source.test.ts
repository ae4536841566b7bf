import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openPlatform, type Person, type TestPlatform } from '../../support/platform/open-platform.ts'
import { RUN } from '../../support/platform/run-name.ts'
import { run } from '../../support/run.ts'

// Tests the variables of a platform as the third source of variables, by a user without a kubeconfig.

const COMPOSE = `services:
  web:
    image: nginx:1.27-alpine
    environment:
      SHELL_ONE: \${SHELL_ONE}
      FILE_ONE: \${FILE_ONE}
      GIVEN_ONE: \${GIVEN_ONE}
      PLAIN: \${PLAIN}
      PORT: \${PLATFORM_PORT:?is needed}
    volumes: [data:/data]
  other:
    image: nginx:1.27-alpine
    volumes: [data:/data]
volumes: {data: {}}
`

describe.skipIf(!process.env.KUBECONFIG)('variables of a platform', () => {
  let platform: TestPlatform
  let ann: Person
  let viewer: Person
  let url: string
  const folder = mkdtempSync(join(tmpdir(), 'devctl-third-'))
  const commands = join(folder, 'commands')

  beforeAll(async () => {
    platform = await openPlatform()
    ;[ann, viewer] = await platform.people('ann', 'viewer')
    url = await platform.app.listen({ port: 0, host: '127.0.0.1' })
    writeFileSync(join(folder, 'compose.yaml'), COMPOSE)
    writeFileSync(join(folder, '.env'), 'FILE_ONE=file\nGIVEN_ONE=file\nSHELL_ONE=file\n')
    mkdirSync(commands)
    writeFileSync(
      join(commands, 'devctl.yml'),
      'name: tools\ndeploy: [{name: show, command: "echo \\"it is $PLAIN\\"; echo \\"$PLAIN $SHELL_ONE\\" > seen"}]\ndestroy: ["echo \\"$PLAIN\\" > gone"]\n',
    )
    await platform.call('PATCH /variables/:scope', {
      token: ann.token,
      params: { scope: `namespace:${ann.home}` },
      body: {
        variables: {
          SHELL_ONE: 'platform',
          FILE_ONE: 'platform',
          GIVEN_ONE: 'platform',
          PLAIN: 'canary-of-the-platform',
          PLATFORM_PORT: '8080',
        },
      },
    })
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await platform?.close()
  })

  const devctl = (
    line: string,
    { cwd = folder, env = {}, by = ann }: { cwd?: string; env?: Record<string, string>; by?: typeof ann } = {},
  ) =>
    run(line.split(' '), {
      cwd,
      env: {
        HOME: folder,
        PATH: process.env.PATH!,
        DEVCTL_URL: url,
        DEVCTL_TOKEN: by.token,
        DEVCTL_NAMESPACE: ann.home,
        ...env,
      },
    })
  const podOf = async (name: string) => {
    const ref = { apiVersion: 'apps/v1', kind: 'StatefulSet', name, namespace: ann.home }
    const { spec } = (await platform.cluster.get(ref))!
    return (spec as { template: { spec: Record<string, unknown> & { containers: { env: unknown[] }[] } } }).template
      .spec
  }

  test('the shell, --var and .env override variables of the platform, and no value is printed', async () => {
    const env = { SHELL_ONE: 'shell' }
    const { status, stdout, stderr } = await devctl('deploy --name shop --var GIVEN_ONE=given', { env })
    expect(status, stderr).toBe(0)
    expect(stdout + stderr).not.toContain('canary')
    const { containers } = await podOf('web')
    const secrets = await platform.cluster.list({ apiVersion: 'v1', kind: 'Secret', namespace: ann.home })
    const values = new Map<string, string>()
    for (const one of containers[0]!.env as {
      name: string
      value?: string
      valueFrom?: { secretKeyRef?: { name: string; key: string } }
    }[]) {
      const ref = one.valueFrom?.secretKeyRef
      const data = secrets.find(({ metadata }) => metadata.name === ref?.name)?.['data'] as Record<string, string>
      values.set(one.name, ref ? Buffer.from(data[ref.key]!, 'base64').toString() : one.value!)
    }
    expect(Object.fromEntries(values)).toEqual({
      SHELL_ONE: 'shell',
      FILE_ONE: 'file',
      GIVEN_ONE: 'given',
      PLAIN: 'canary-of-the-platform',
      PORT: '8080',
    })
  })

  test('only Secrets contain values of variables, so viewers see none', async () => {
    const own = join(folder, 'viewed')
    mkdirSync(own)
    const compose = `services:
  app:
    image: nginx:1.27-alpine
    environment: {URL: "http://app:\${PLAIN}@db/"}
    command: ["serve", "--key=\${PLAIN}", "--given=\${GIVEN_ONE}"]
    healthcheck: {test: "ping \${PLAIN}"}
    post_start: [{command: "tell \${PLAIN}"}]
    pre_stop: [{command: "tell \${PLAIN}"}]
    pre_start: [{command: "migrate \${PLAIN}"}]
    configs: [site]
    ports: [80]
configs: {site: {content: "key = \${PLAIN}"}}
`
    writeFileSync(join(own, 'compose.yaml'), compose)
    const { status, stderr } = await devctl('deploy --name viewed --var GIVEN_ONE=canary-of-var', { cwd: own })
    expect(status, stderr).toBe(0)
    const inNamespace = { namespace: ann.home }
    const kinds = [
      ['apps/v1', 'Deployment'],
      ['apps/v1', 'ReplicaSet'],
      ['v1', 'Pod'],
      ['v1', 'ConfigMap'],
      ['v1', 'Service'],
      ['networking.k8s.io/v1', 'Ingress'],
    ] as const
    for (const [apiVersion, kind] of kinds) {
      const found = await platform.cluster.list({ apiVersion, kind, ...inNamespace })
      expect(JSON.stringify(found), kind).not.toContain('canary')
    }
    const secrets = await platform.cluster.list({ apiVersion: 'v1', kind: 'Secret', ...inNamespace })
    const { data } = secrets.find(({ metadata }) => metadata.name === 'viewed-app-values')!
    const text = (name: string) => Buffer.from((data as Record<string, string>)[name]!, 'base64').toString()
    expect([text('URL'), text('DEVCTL_COMMAND_2'), text('DEVCTL_COMMAND_3')]).toEqual([
      'http://app:canary-of-the-platform@db/',
      '--key=canary-of-the-platform',
      '--given=canary-of-var',
    ])
    const again = await devctl('diff --name viewed --exit-code --var GIVEN_ONE=canary-of-var', { cwd: own })
    expect(again.status, again.stdout + again.stderr).toBe(0)
    writeFileSync(
      join(own, 'compose.yaml'),
      compose.replace('    ports', '    labels: ["key=${DB_PASSWORD}"]\n    ports'),
    )
    const refused = await devctl('deploy --name viewed --var DB_PASSWORD=canary-of-var', { cwd: own })
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining('[secrets/shown-to-viewers]')])
    expect((await devctl('destroy --name viewed --yes', { cwd: own })).status).toBe(0)
  })

  test('diff compares with what deploy would apply', async () => {
    const { status, stdout, stderr } = await devctl('diff --name shop --exit-code --var GIVEN_ONE=given', {
      env: { SHELL_ONE: 'shell' },
    })
    expect(status, stdout + stderr).toBe(0)
    const changed = await devctl('diff --name shop --exit-code --var GIVEN_ONE=given', {
      env: { SHELL_ONE: 'shell', PLAIN: 'another' },
    })
    expect(changed.status).toBe(3)
    expect(changed.stdout + changed.stderr).not.toContain('canary')
  })

  test('commands of the manifest get the variables below the shell, and their output is masked', async () => {
    const env = { SHELL_ONE: 'shell' }
    const { status, stdout, stderr } = await devctl('deploy', { cwd: commands, env })
    expect(status, stdout + stderr).toBe(0)
    expect(stdout + stderr).toContain('it is ***')
    expect(stdout + stderr).not.toContain('canary')
    expect(readFileSync(join(commands, 'seen'), 'utf8')).toBe('canary-of-the-platform shell\n')
    expect((await devctl('destroy', { cwd: commands })).status).toBe(0)
    expect(readFileSync(join(commands, 'gone'), 'utf8')).toBe('canary-of-the-platform\n')
  })

  test('commands get only variables that their manifest names', async () => {
    const params = { scope: `namespace:${ann.home}` }
    const code = { FLASK_APP: 'subprocess:getoutput("touch pwned")', MAKE: 'touch pwned', SCRIPTED: 'for the script' }
    expect(
      (await platform.call('PATCH /variables/:scope', { token: ann.token, params, body: { variables: code } })).status,
    ).toBe(204)
    const own = join(folder, 'named')
    mkdirSync(own)
    const manifest = (first: string, last = '') =>
      `${first}name: named\ndeploy: ["env > seen; echo $PLAIN >> said${last}"]\ndestroy: ["env > gone"]\n`
    writeFileSync(join(own, 'devctl.yml'), manifest(''))
    const deployed = await devctl('deploy', { cwd: own })
    expect(deployed.status, deployed.stderr).toBe(0)
    const names = (file: string) =>
      readFileSync(join(own, file), 'utf8').match(/^(FLASK_APP|MAKE|SCRIPTED|PLAIN)(?==)/gm) ?? []
    expect(names('seen')).toEqual(['PLAIN'])
    // A failed command lists the variables that it does not get.
    writeFileSync(join(own, 'devctl.yml'), manifest('', '; exit 1'))
    const failed = await devctl('deploy', { cwd: own })
    expect(failed.stderr).toMatch(/these it does not: `FILE_ONE`, `FLASK_APP`, .*`variables` of the manifest/)
    writeFileSync(join(own, 'devctl.yml'), manifest('variables: [SCRIPTED]\n'))
    expect((await devctl('deploy', { cwd: own })).status).toBe(0)
    expect(names('seen').sort()).toEqual(['PLAIN', 'SCRIPTED'])
    expect((await devctl('destroy', { cwd: own })).status).toBe(0)
    expect(names('gone').sort()).toEqual(['PLAIN', 'SCRIPTED'])
    for (const name of Object.keys(code))
      await platform.call('DELETE /variables/:scope/:name', { token: ann.token, params: { ...params, name } })
  })

  test('a setting of a namespace applies to its deploys, unless the shell has another value', async () => {
    const affinity = async (env = {}) => {
      const { status, stderr } = await devctl('deploy --name shop', { env })
      expect(status, stderr).toBe(0)
      return JSON.stringify((await podOf('web'))['affinity'] ?? null)
    }
    const name = 'DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED'
    const params = { scope: `namespace:${ann.home}`, name }
    expect(await affinity()).toContain('podAffinity')
    await platform.call('PUT /variables/:scope/:name', { token: ann.token, params, body: { value: 'false' } })
    expect(await affinity()).toBe('null')
    expect(await affinity({ [name]: 'true' })).toContain('podAffinity')
    await platform.call('DELETE /variables/:scope/:name', { token: ann.token, params })
  })

  test('build uses the variables, and render, validate and config never do', async () => {
    const missing = '`PLATFORM_PORT`'
    const built = await devctl('build')
    expect(built.stderr).toContain('no service has `build`')
    expect(built.stderr).not.toContain(missing)
    for (const command of ['render', 'validate', 'config']) {
      const { status, stdout, stderr } = await devctl(command)
      expect([command, status]).toEqual([command, 1])
      expect(stderr).toContain('PLATFORM_PORT')
      expect(stdout + stderr).not.toContain('canary')
    }
  })

  test('deploy fails for a user without access to the variables, and without the platform', async () => {
    const refused = await devctl('deploy --name shop', { by: viewer })
    expect([refused.status, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`it was asked for the variables of namespace \`${ann.home}\``),
    ])
    const gone = await devctl('deploy --name shop', { env: { DEVCTL_URL: 'http://127.0.0.1:9' } })
    expect([gone.status, gone.stderr]).toEqual([1, expect.stringContaining('does not answer')])
  })

  test('stored variables that another user has changed run no code at a destroy', async () => {
    const own = join(folder, 'kept')
    mkdirSync(own)
    const manifest = 'name: kept\ndeploy: ["echo COLOUR=blue >> $DEVCTL_ENV"]\ndestroy: ["echo \\"$COLOUR\\" > gone"]\n'
    writeFileSync(join(own, 'devctl.yml'), manifest)
    const deployed = await devctl('deploy', { cwd: own })
    expect(deployed.status, deployed.stderr).toBe(0)
    const ref = { apiVersion: 'v1', kind: 'Secret', name: 'devctl-kept', namespace: ann.home }
    const kept = { COLOUR: 'green', BASH_ENV: '$(touch pwned)', 'BASH_FUNC_echo%%': '() { touch pwned; }', PATH: own }
    const variables = Buffer.from(JSON.stringify(kept)).toString('base64')
    await platform.cluster.patch(ref, { data: { variables } }, { manager: 'somebody' })
    const { status, stderr } = await devctl('destroy', { cwd: own })
    expect(status, stderr).toBe(0)
    expect(readdirSync(own).sort()).toEqual(['devctl.yml', 'gone'])
    expect(readFileSync(join(own, 'gone'), 'utf8')).toBe('green\n')
    expect(stderr).toContain('the variable `BASH_ENV`, which is kept in the cluster, is not used')
  })

  test('deploy fails if the platform cannot decrypt a variable', async () => {
    const name = `LOST_${RUN}`
    const params = { scope: `namespace:${ann.home}`, name }
    await platform.call('PUT /variables/:scope/:name', { token: ann.token, params, body: { value: 'x' } })
    const { metadata } = (await platform.cluster.get({ apiVersion: 'v1', kind: 'Namespace', name: ann.home }))!
    const ref = { apiVersion: 'v1', kind: 'Secret', name: `variables-n-${metadata.uid}`, namespace: 'devctl-users' }
    const entry = { sealed: 'v1.k9.AAAA', by: ann.id, set: '2026-01-01T00:00:00Z' }
    const data = { [name]: Buffer.from(JSON.stringify(entry)).toString('base64') }
    await platform.cluster.patch(ref, { data }, { manager: 'test' })
    const { status, stderr } = await devctl('deploy --name shop')
    expect(status, stderr).toBe(1)
    expect(stderr).toContain(`error: the platform cannot read the value of \`${name}\` any more`)
  })
})
