import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const compose = `name: library
services:
  gateway:
    image: nginx:1
    ports: ["8080:80"]
  db:
    image: postgres:16
    volumes: ["pgdata:/data"]
    healthcheck: {test: [CMD, pg_isready]}
volumes:
  pgdata:
`

const explain = (...words: readonly string[]) => explainIn({ 'compose.yaml': compose }, ...words)

async function explainIn(files: Readonly<Record<string, string>>, ...words: readonly string[]): Promise<string> {
  const cwd = makeFolder(files)
  const { stdout, stderr } = await run(['explain', ...words, '--domain', 'example.com'], { cwd })
  return stdout + stderr
}

describe('explain names the cause of a value', () => {
  test('a changed host of a rule is not the cause of its path, type and backend', { timeout: 30_000 }, async () => {
    const text = await explain('ingress/gateway')
    expect(text).toMatch(/\.host +\S+ .*(compose.yaml:1|name library)/)
    for (const field of ['path', 'pathType', 'backend.service.name'])
      expect(text).not.toMatch(new RegExp(`\\.${field} .*(compose.yaml:1 |name library)`))
  })

  test('a line that makes an object exist is not the cause of its defaults', { timeout: 30_000 }, async () => {
    const storage = await explain('pvc/pgdata', 'spec.resources.requests.storage')
    expect(storage).toMatch(/rule +no line says so: .*; set `volumes.pgdata.driver_opts.size`\n/)
    expect(storage).toMatch(/within +compose.yaml:\d+/)
    const timeout = await explain('statefulset/db', 'containers[db].readinessProbe.timeoutSeconds')
    expect(timeout).toMatch(/rule +no line says so: .*; set `services.db.healthcheck.timeout`\n/)
    expect(timeout).toMatch(/within +compose.yaml:9 /)
    expect(await explain('statefulset/db', 'containers[db].readinessProbe.exec.command')).toContain(
      'services.db.healthcheck.test[1]',
    )
  })
})

test.each([
  [['hpa/db'], 'error: `horizontalpodautoscaler/db` does not exist'],
  [['cj/db'], 'error: `cronjob/db` does not exist'],
  [['sa/db'], 'error: `serviceaccount/db` does not exist'],
  [['netpol/db'], 'error: `networkpolicy/db` does not exist'],
  [['secret/db'], 'Secrets need `--include-secrets`'],
  [['gateway'], 'write `services.gateway` for a service'],
  [['compose.yaml:500'], 'error: `compose.yaml` has only 11 lines'],
] as const)('explain %j says how to name what is meant', async (words, message) => {
  expect(await explain(...words)).toContain(message)
})

test('a line that overrides members of a key says so, as the key of the member does', async () => {
  const files = {
    'compose.yaml': 'services:\n  web:\n    image: a\n    environment:\n      A: one\n',
    'compose.override.yaml': 'services:\n  web:\n    environment: {A: two}\n',
  }
  const over = /over +compose.yaml:5 +A: one\n/
  expect(await explainIn(files, 'compose.override.yaml:3')).toMatch(over)
  expect(await explainIn(files, 'services.web.environment.A')).toMatch(over)
})

test('a line below an anchor is the value on it, and not the key with the alias', async () => {
  const files = { 'compose.yaml': 'x-d: &d\n  replicas: 3\nservices:\n  web:\n    image: a\n    deploy: *d\n' }
  const text = await explainIn(files, 'compose.yaml:2')
  expect(text).toMatch(/^compose.yaml:2 +replicas: 3\n +key +services.web.deploy.replicas\n/)
})

test.each(['e1.env:1', 'e2.env:1', 'services.web.environment.A'])(
  '%s names the value that wins over those of env files',
  async subject => {
    const files = {
      'compose.yaml':
        'services:\n  web:\n    image: a\n    env_file: [e1.env, e2.env]\n    environment:\n      A: three\n',
      'e1.env': 'A=one\n',
      'e2.env': 'A=two\n',
    }
    const text = await explainIn(files, subject)
    expect(text).toMatch(/^compose.yaml:6 +A: three\n/)
    expect(text).toMatch(/over +e2.env:1 +A=two\n +over +e1.env:1 +A=one\n/)
  },
)

test('a value of an env file names the variables in it, with their origins', async () => {
  const files = {
    'compose.yaml': 'services:\n  web:\n    image: a\n    env_file: [e.env]\n    environment:\n      D: over\n',
    'e.env': 'A=one\nB=${A} ${D:-none} ${LEVEL} ${ABSENT:-it}\n',
    '.env': 'LEVEL=info\n',
  }
  const text = await explainIn(files, 'services.web.environment.B')
  for (const [name, origin] of Object.entries({
    A: 'e.env:1',
    D: 'compose.yaml:6',
    LEVEL: '.env:1',
    ABSENT: 'its default',
  }))
    expect(text).toMatch(new RegExp(`variable +${name} from ${origin}\n`))
})

test('a variable without a value is explained at its own line, with the shell that sets it', async () => {
  const cwd = makeFolder({
    'compose.yaml':
      'services:\n  web:\n    image: a\n    environment:\n      NAME:\n  api:\n    image: b\n    environment: ["NAME"]\n',
  })
  for (const [line, text, service] of [
    [5, 'NAME:', 'web'],
    [8, 'environment: ["NAME"]', 'api'],
  ]) {
    const { stdout } = await run(['explain', `compose.yaml:${line}`], { cwd, env: { NAME: 'shell' } })
    expect(stdout).toMatch(new RegExp(`^compose.yaml:${line}  ${String(text).replace(/[[\]]/g, '\\$&')}\n`))
    expect(stdout).toMatch(new RegExp(` key +services.${service}.environment(.NAME)?\n`))
    expect(stdout).toMatch(/ variable +NAME from the shell\n/)
  }
  const { stdout } = await run(['explain', 'compose.yaml:5'], { cwd, env: { NAME: 'shell' } })
  expect(stdout).toMatch(/ key +services.web.environment.NAME\n/)
})

test('a line that `!override` or `!reset` of a later file drops names the line of the tag', async () => {
  const files = {
    'compose.yaml':
      'services:\n  web:\n    image: a\n    ports:\n      - "8080:80"\n    environment:\n      A: one\n      B: two\n    user: "1"\n  base:\n    image: b\n    command: x\n',
    'compose.override.yaml':
      'services:\n  web:\n    ports: !override\n      - "9090:80"\n    environment:\n      A: !reset\n    user: !reset null\n  other:\n    extends: {file: other.yaml, service: old}\n    command: !override [sleep, "1"]\n',
    'other.yaml': 'services:\n  old:\n    image: c\n    command: [sleep, "2"]\n',
  }
  const ports = /^compose.yaml:5 +services.web.ports\n +replaced +by `!override` at compose.override.yaml:3\n/
  expect(await explainIn(files, 'compose.yaml:5')).toMatch(ports)
  expect(await explainIn(files, 'compose.yaml:5')).toMatch(/\ncompose.override.yaml:3 +ports: !override\n/)
  expect(await explainIn(files, 'compose.yaml:4')).toMatch(/replaced +by `!override` at compose.override.yaml:3\n/)
  expect(await explainIn(files, 'compose.yaml:7')).toBe(
    'compose.yaml:7  services.web.environment.A\n  removed  by `!reset` at compose.override.yaml:6\n',
  )
  expect(await explainIn(files, 'compose.yaml:9')).toBe(
    'compose.yaml:9  services.web.user\n  removed  by `!reset` at compose.override.yaml:7\n',
  )
  expect(await explainIn(files, 'other.yaml:4')).toMatch(/replaced +by `!override` at compose.override.yaml:10\n/)
  expect(JSON.parse(await explainIn(files, 'compose.yaml:9', '-o', 'json'))).toMatchObject({
    dropped: [{ path: 'services.web.user', tag: '!reset', by: { file: 'compose.override.yaml', line: 7 } }],
  })
})

test.each(['.env', './.env', '../app/.env', 'absolute'])(
  'a line of an env file is explained, written as %s',
  async file => {
    const cwd = join(
      makeFolder({ 'app/compose.yaml': 'services: {web: {image: "nginx:${TAG}"}}\n', 'app/.env': 'TAG=1\n' }),
      'app',
    )
    const path = file === 'absolute' ? join(cwd, '.env') : file
    const { status, stdout } = await run(['explain', `${path}:1`], { cwd })
    expect(stdout).toContain('services.web.image')
    expect(status).toBe(0)
  },
)
