import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'
import { expectFile } from '../../support/written-file.ts'

/** A project with an anchor, `extends`, `include`, an override, variables, a secret and an environment. */
const files = {
  'compose.yaml': `x-common: &common
  restart: always
  stop_grace_period: 45s
include: [cache.yaml]
services:
  api:
    <<: *common
    extends: {file: base.yaml, service: base}
    image: api:\${TAG:-1.0}
    environment:
      LEVEL: \${LEVEL}
      DB_PASSWORD: \${DB_PASSWORD}
    scale: 1
    init: true
    cpuset: "0"
`,
  'base.yaml': 'services:\n  base:\n    image: alpine\n    working_dir: /srv\n',
  'cache.yaml': 'services:\n  cache:\n    image: redis:7\n    command: redis-server --save ""\n',
  'compose.prod.yaml': 'services:\n  api:\n    image: api:2.0\n    scale: 3\n',
  '.env': 'LEVEL=debug\nDB_PASSWORD=hunter2secret\n',
  'devctl.yml': `name: demo
environments:
  prod:
    namespace: production
    domain: example.com
    compose: [compose.prod.yaml]
`,
}

const detours = [
  'services.api.stop_grace_period',
  'services.api.working_dir',
  'services.cache.command',
  'services.api.image',
  'services.api.image --environment prod',
  'compose.yaml:9 --environment prod',
  'services.api.environment.LEVEL',
  '.env:1',
  'services.api.environment.DB_PASSWORD',
  'deployment/api containers[api].env --include-secrets',
  'deployment/api containers[api].image',
  'deployment/api replicas --environment prod',
  'deployment/api metadata.namespace --environment prod',
  'devctl.yml:4 --environment prod',
  'devctl.yml:1',
  'services.api.init',
  'services.api.cpuset',
  'base.yaml:3',
  'base.yaml:4',
  'compose.yaml:3',
  'k8s/api/deployment-api.yaml:14',
  'k8s/api/deployment-api.yaml:27',
  'k8s/api/deployment-api.yaml:300',
]

/** Questions by file of golden/cli/explain and example. The files contain the answers. */
const transcripts: Readonly<Record<string, { readonly example: string; readonly lines: readonly string[] }>> = {
  'shop-lines': {
    example: 'shop',
    lines: [
      'services.web.ports[0]',
      'services.db.volumes[0]',
      'services.api.healthcheck',
      'services.migrate.restart',
      'compose.yaml:14',
      'compose.yaml:20:7',
      'compose.yaml:2',
      'volumes.data',
      'services.web',
    ],
  },
  'shop-objects': {
    example: 'shop',
    lines: [
      'deployment/web spec.template.spec.containers[0].image',
      'deployment/web spec.template.spec.containers.0.image',
      'deployment/web containers[web].ports[tcp-80].containerPort',
      'statefulset/db spec.template.spec.terminationGracePeriodSeconds',
      'statefulset/db kind',
      'deployment/api containers[api].readinessProbe',
      'job/migrate /spec/backoffLimit',
      'svc/web',
      'pvc/data spec',
    ],
  },
  'shop-mistakes': {
    example: 'shop',
    lines: [
      'services.wep',
      'services.web.prots',
      'services.web.hostname',
      'compose.yaml:3',
      'deployment/wep',
      'deployment/db',
      'deployment/web spec.replica',
      'deployment/web containers[wep]',
      'nothing.yaml:3',
      'services.web.image spec',
    ],
  },
  jobs: {
    example: 'jobs',
    lines: [
      'jobs.archive.triggers.schedule[0].cron',
      'jobs.archive.triggers.schedule',
      'jobs.report.triggers',
      'jobs.archive.image',
      'jobs.archive',
      'jobs',
      'services.archive.image',
      'compose.yaml:10',
      'compose.yaml:12',
      'compose.yaml:17',
      'cronjob/archive spec.schedule',
      'cronjob/archive containers[archive].image',
      'cronjob/archive spec.jobTemplate.spec.template.spec.terminationGracePeriodSeconds',
      'cronjob/archive containers[archive].volumeMounts',
      'jobs.archiv',
      'jobs.web',
      'services.archiv',
      'jobs.archive.triggers.schedules',
      'jobs.report.triggers.schedule',
    ],
  },
}

describe('explain', () => {
  test.each(Object.entries(transcripts))(
    'prints the transcript %s',
    { timeout: 60_000 },
    async (name, { example, lines }) => {
      let text = ''
      for (const line of lines) {
        const { stdout, stderr } = await explain(example, line)
        text += `$ devctl explain ${line.replace(/\S*\[\S*/g, "'$&'")}\n${stdout}${stderr}\n`
      }
      await expectFile(text, join(root, 'golden/cli/explain', `${name}.txt`))
    },
  )

  test('follows anchors, `extends`, `include`, overrides, variables and environments', {
    timeout: 60_000,
  }, async () => {
    const cwd = makeFolder(files)
    expect(await run(['render', '--output-dir', 'k8s', '--include-secrets'], { cwd })).toMatchObject({ status: 0 })
    let text = ''
    for (const line of detours) {
      const { stdout, stderr } = await run(['explain', ...line.split(' ')], { cwd })
      text += `$ devctl explain ${line.replace(/\S*\[\S*/g, "'$&'")}\n${stdout}${stderr}\n`
    }
    expect(text).not.toContain('hunter2secret')
    await expectFile(text, join(root, 'golden/cli/explain/detours.txt'))
  })

  test('names the variable that wins over the namespace at the top of the manifest', async () => {
    const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}}', 'devctl.yml': 'namespace: written\n' })
    const words = ['explain', 'deployment/web', 'metadata.namespace']
    const { stdout } = await run(words, { cwd, env: { DEVCTL_NAMESPACE: 'of-shell' } })
    expect(stdout).toContain('setting  namespace of-shell, from $DEVCTL_NAMESPACE')
    expect((await run(words, { cwd })).stdout).toContain('setting  namespace written, from devctl.yml:1')
  })

  test('prints the same as JSON', async () => {
    const { stdout } = await explain('shop', 'services.web.image -o json')
    expect(JSON.parse(stdout)).toMatchObject({
      kind: 'lines',
      nodes: [
        {
          path: 'services.web.image',
          line: { file: 'compose.yaml', line: 6 },
          becomes: [{ object: 'deployment/web', fields: [{ path: 'spec.template.spec.containers[web].image' }] }],
        },
      ],
    })
  })

  test('errors in the files are reported, and a project without Compose files has nothing to explain', async () => {
    const broken = makeFolder({ 'compose.yaml': 'services: {a: {imagee: x}}\n' })
    expect(await run(['explain', 'services.a'], { cwd: broken })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('there are no objects to explain'),
    })
    const commands = makeFolder({ 'devctl.yml': 'deploy: [./deploy.sh]\n' })
    for (const command of [['explain', 'services.a'], ['graph']])
      expect(await run(command, { cwd: commands })).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('there is no Compose file to render'),
      })
  })

  test('explains a diagnostic code, and lists those of a family, as without a project', async () => {
    expect((await explain('shop', 'interpolation/required')).stdout).toContain('interpolation/required')
    expect((await explain('shop', 'services')).stdout).toContain('services/unknown-key')
  })
})

const explain = (example: string, line: string) =>
  run(['explain', ...line.split(' ')], { cwd: join(root, 'examples', example) })
