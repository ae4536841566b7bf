import { join } from 'node:path'
import { expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

// Nothing listens at this address: a command that connects to the cluster fails with another message.
const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none, namespace: shop}}]
clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: none, user: {token: none}}]
`

function devctl(files: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const folder = makeFolder({ kubeconfig: KUBECONFIG, 'project/nothing': '', ...files })
  const env = { KUBECONFIG: join(folder, 'kubeconfig'), DEVCTL_HOME: join(folder, 'home') }
  return run(words, { cwd: join(folder, 'project'), env })
}

test.each([['up'], ['up', 'api', '--detach'], ['up', '--all']])(
  '%s %s %s refuses mistakes of the manifest before it connects to the cluster',
  async (...words) => {
    const manifest = 'dev: {api: {command: "true", sync: ["./api"], forward: ["8080"]}}\n'
    const { status, stderr } = await devctl({ 'project/devctl.yml': manifest }, ...words.filter(Boolean))
    expect(status).toBe(1)
    expect(stderr).toContain('error[manifest/bad-value]: `dev.api.sync[0]` is `./api`')
    expect(stderr).toContain('--> devctl.yml:1:37')
    expect(stderr).toContain('`dev.api.forward[0]` is `8080`')
    expect(stderr).not.toContain('error: ')
  },
)

test.each([
  ['status', 'api'],
  ['down', 'api'],
  ['exec', 'api', '--', 'true'],
])('%s works with a manifest that has mistakes', async (...words) => {
  const manifest = 'dev: {api: {sync: ["./api"]}}\ndeploy: {compose: none.yaml}\n'
  const { status, stderr } = await devctl({ 'project/devctl.yml': manifest }, ...words)
  expect(status).toBe(1)
  expect(stderr).not.toContain('error[')
  expect(stderr).toContain('127.0.0.1:1')
})

test('`up` reports a folder without files to deploy once', async () => {
  const { status, stderr } = await devctl({}, 'up')
  expect(status).toBe(1)
  expect(stderr).toContain('error[files/no-compose-file]')
  expect(stderr).not.toContain('the files have errors')
})

test('`up` prints lines to add to a file on separate lines', async () => {
  const { stderr } = await devctl(
    { 'project/compose.yaml': 'services:\n  api:\n    build: .\n', 'project/Dockerfile': 'FROM scratch\n' },
    'up',
    'api',
  )
  expect(stderr).toContain('  = help: add two lines to `api`:\n    volumes:\n      - .:/app\n')
})
