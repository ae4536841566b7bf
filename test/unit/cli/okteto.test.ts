import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { manifestBuilds } from '../../../builds/plan/manifest-builds.ts'
import { compileFiles } from '../../../project/compile-files.ts'
import { openProject } from '../../../project/open-project.ts'
import { workspaceOf } from '../../../project/workspace.ts'
import { run } from '../../support/run.ts'

const work = mkdtempSync(join(tmpdir(), 'devctl-okteto-'))
afterAll(() => rmSync(work, { recursive: true, force: true }))

let made = 0
function folder(files: Readonly<Record<string, string>>): string {
  const at = join(work, `project-${made++}`)
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(at, path)), { recursive: true })
    writeFileSync(join(at, path), text)
  }
  return at
}

const OKTETO = 'deploy:\n  - kubectl apply -f k8s\nicon: https://example.com/icon.png\n'
const COMPOSE = 'services:\n  web:\n    image: nginx\n'

test.each(['okteto.yml', 'okteto.yaml', '.okteto/okteto.yml', '.okteto/okteto.yaml', 'okteto-pipeline.yml'])(
  '%s is found and read as it is',
  async path => {
    const cwd = folder({ [path]: OKTETO })
    const { status, stderr } = await run(['validate', '--loglevel', 'info'], { cwd })
    expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining(`no errors in ${path}`) })
    expect(stderr).toContain('info[okteto/unneeded-key]: `icon` of an Okteto manifest is left out')
  },
)

test('a manifest in the first format of Okteto may have further containers under services', async () => {
  const first = 'name: api\nimage: node:22\ncommand: bash\nworkdir: /app\nsync: [".:/app"]\nforward: ["8080:8080"]\n'
  const cwd = folder({ 'okteto.yml': `${first}services:\n  - name: worker\n    sync: [".:/app"]\n` })
  const { status, stderr } = await run(['validate', '--loglevel', 'info'], { cwd })
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('no errors in okteto.yml') })
  expect(stderr.match(/^\w+\[.*/gm)).toEqual([
    "info[okteto/single-container]: the manifest is in Okteto's first format and is read as `dev.api`",
  ])
  const { stdout } = await run(['migrate'], { cwd })
  expect(stdout).toContain('    services:\n      - name: worker\n        sync: [".:/app"]\n')
})

test('a manifest of devctl wins over one of Okteto, without a warning', async () => {
  const cwd = folder({ 'okteto.yml': OKTETO, '.devctl/devctl.yml': 'deploy:\n  - "true"\n' })
  expect(await run(['validate'], { cwd })).toEqual({
    status: 0,
    stdout: '',
    stderr: expect.stringContaining('no errors in .devctl/devctl.yml'),
  })
})

test('a folder with several manifests of Okteto uses the first one and warns', async () => {
  const cwd = folder({ 'okteto.yml': OKTETO, 'okteto.yaml': OKTETO })
  const { stderr } = await run(['validate'], { cwd })
  expect(stderr).toContain('`okteto.yml` is used; `okteto.yaml` is ignored')
})

test('an Okteto manifest without commands deploys the Compose file beside it', async () => {
  const cwd = folder({ 'okteto.yml': 'dev:\n  web:\n    sync: [".:/app"]\n', 'compose.yaml': COMPOSE })
  const { status, stdout } = await run(['render'], { cwd })
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('kind: Deployment') })
})

test('paths in a manifest in .okteto are relative to the folder around it', async () => {
  const cwd = folder({ '.okteto/okteto.yml': 'deploy:\n  compose: compose.yaml\n', 'compose.yaml': COMPOSE })
  const { status, stderr } = await run(['validate'], { cwd })
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('no errors in 1 service') })
})

test('-f takes an Okteto manifest of the first format, although its keys are also keys of services', async () => {
  const cwd = folder({ 'okteto.yml': 'image: golang\nvolumes: [/go/pkg]\nsync: [".:/app"]\n' })
  const { status, stderr } = await run(['validate', '-f', 'okteto.yml', '--loglevel', 'info'], { cwd })
  expect({ status, stderr }).toEqual({ status: 0, stderr: expect.stringContaining('is read as `dev.project-') })
})

test('an image that an Okteto manifest and a service build is built once, from the service', async () => {
  const cwd = folder({
    'okteto.yml': 'build:\n  api: ./other\n  tools: ./tools\n',
    'compose.yaml': 'services:\n  api:\n    build: ./api\n',
    'api/Dockerfile': 'FROM busybox\n',
    'tools/Dockerfile': 'FROM busybox\n',
  })
  const { status, stderr } = await run(['validate'], { cwd })
  expect({ status, stderr }).toEqual({
    status: 0,
    stderr: expect.stringContaining('warning[okteto/build-of-service]: the service `api` has `build`, too'),
  })
  expect(stderr).not.toContain('`tools` has `build`')
  const workspace = workspaceOf({ cwd, env: {} })
  const project = await openProject(workspace, {})
  const { plan } = await compileFiles(workspace, [], {}, {}, { project, forBuild: 'build' })
  const builds = manifestBuilds(workspace, {}, project, { plan: plan!, registry: 'registry.example.com' })
  expect(builds.map(({ service }) => service)).toEqual(['tools'])
})

test('devctl never writes answers into an Okteto manifest', async () => {
  const text = 'environments:\n  staging: {}\n'
  const cwd = folder({
    'okteto.yml': text,
    'compose.yaml': `${COMPOSE}    environment:\n      DB_PASSWORD: hunter2hunter2\n`,
  })
  const args = ['gitops', 'secrets', '--environment', 'staging', '--public', 'services.web.environment.DB_PASSWORD']
  const { status, stderr } = await run(args, { cwd })
  expect({ status, stderr }).toEqual({
    status: 2,
    stderr: expect.stringContaining('`okteto.yml` is an Okteto manifest, which devctl does not change'),
  })
  expect(readFileSync(join(cwd, 'okteto.yml'), 'utf8')).toBe(text)
})
