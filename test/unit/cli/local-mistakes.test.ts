import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const config = (port: number) => `apiVersion: v1
kind: Config
current-context: dev
contexts: [{name: dev, context: {cluster: dev, user: dev, namespace: shop}}]
clusters: [{name: dev, cluster: {server: "http://127.0.0.1:${port}"}}]
users: [{name: dev, user: {token: t}}]
`

describe('mistakes that can be seen on this machine', () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(500).end('{}')
  })
  beforeAll(() => new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve)))
  afterAll(() => server.close())

  test.each([
    'deploy --file missing.yaml',
    'diff --file missing.yaml',
    'destroy --file missing.yaml',
    'ps --file missing.yaml',
    'logs --file missing.yaml',
    'endpoints --file missing.yaml',
    'history --file missing.yaml',
    'restart --file missing.yaml',
    'forward --file missing.yaml web 8080:80',
    'up --file missing.yaml',
    'up --file missing.yaml web db',
    'down --file missing.yaml',
    'status --file missing.yaml',
    'exec --file missing.yaml -- ls',
    'deploy wbe',
    'diff wbe',
    'forward wbe 8080:80',
    'deploy --image wbe=x',
    'deploy --rerun wbe',
    'deploy --images-file missing.json',
    'deploy --env-file missing.env',
    'deploy --environment none',
    'deploy --timeout soon',
    'forward web 8080:x',
    'logs (',
  ])('`devctl %s` reports its mistake before it asks the cluster', async line => {
    const { port } = server.address() as AddressInfo
    const cwd = makeFolder({ 'compose.yaml': 'services: {web: {image: nginx}}\n', kubeconfig: config(port) })
    asked.length = 0
    const { status, stderr } = await run(line.split(' '), {
      cwd,
      env: { KUBECONFIG: join(cwd, 'kubeconfig'), DEVCTL_HOME: join(cwd, 'home') },
    })
    expect(status, stderr).toBeGreaterThan(0)
    expect(asked).toEqual([])
    const [, named] = /(missing\.\w+|wbe|none|soon|8080:x|\()/.exec(line)!
    expect(stderr).toContain(`\`${named}\``)
  })
})
