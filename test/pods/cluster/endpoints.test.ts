import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { ask } from '../../support/cluster/application.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { run } from '../../support/run.ts'
import { longTest } from '../../support/takes-all.ts'

const cluster = findCluster()
const hasNodes = (await cluster?.hasNodes()) ?? false
const DOMAIN = 'devctl.localhost'

describe.skipIf(!hasNodes)('endpoints', () => {
  const namespace = `ends-${process.pid}`
  const env = { KUBECONFIG: process.env.KUBECONFIG! }
  const folder = mkdtempSync(join(tmpdir(), 'devctl-endpoints-'))
  write(folder, {
    'compose.yaml': `
name: site
services:
  web:
    image: nginx:1.27-alpine
    ports: ["80:80"]
    stop_grace_period: 1s
  api:
    image: busybox:1.36
    command: ["sh", "-c", "mkdir /www; echo hello > /www/api; httpd -f -p 9000 -h /www"]
    expose: ["9000"]
    stop_grace_period: 1s
    healthcheck:
      test: test -f /tmp/ready
      interval: 3s
      retries: 100
endpoints:
  - { path: /, service: web, port: 80 }
  - { path: /api, service: api, port: 9000 }
`,
  })
  const devctl = async (...argv: string[]) => {
    const result = await run([...argv, '--namespace', namespace], { cwd: folder, env })
    expect(result.status, result.stderr).toBe(0)
    return result
  }
  const host = (name: string) => `${name}-${namespace}.${DOMAIN}`
  const listed = async (): Promise<readonly { url: string; services: string[]; ready: boolean; reason?: string }[]> =>
    JSON.parse((await devctl('endpoints', '--output', 'json')).stdout)

  beforeAll(() => cluster!.createNamespace(namespace))
  afterAll(async () => {
    rmSync(folder, { recursive: true })
    await cluster!.deleteNamespace(namespace)
    cluster!.close()
  })

  longTest('endpoints lists nothing for an application that is not deployed', async () => {
    expect(await devctl('endpoints')).toMatchObject({
      stdout: '',
      stderr: `site has no endpoints in ${namespace}: it is not deployed there\n`,
    })
  })

  test('endpoints lists nothing without a domain', async () => {
    await devctl('deploy')
    const { stdout, stderr } = await devctl('endpoints')
    expect(stdout).toBe('')
    expect(stderr).toContain('no domain is set')
    expect(await listed()).toEqual([])
  })

  test('endpoints are ready once a Pod is ready, and answer', async () => {
    await devctl('deploy', '--domain', DOMAIN)
    const api = { url: `https://${host('site')}/api`, services: ['api'] }
    const found = await eventually('nginx is ready', async () => {
      const endpoints = await listed()
      return endpoints.filter(({ ready }) => ready).length === 2 ? endpoints : undefined
    })
    expect(found).toMatchObject([
      { url: `https://${host('web')}`, services: ['web'], ready: true },
      { url: `https://${host('site')}`, services: ['web'], ready: true },
      { ...api, ready: false, reason: 'no Pod of `api` is ready' },
    ])
    const pages = await eventually('the controller has the routes', async () => {
      const answers = await Promise.all(found.map(({ url }) => ask(cluster!, new URL(url).host, new URL(url).pathname)))
      return answers[0]!.status === 200 && answers[1]!.status === 200 ? answers : undefined
    })
    expect(pages[2]!.status).toBeGreaterThanOrEqual(400)

    await cluster!.kubectl('--namespace', namespace, 'exec', 'deployment/api', '--', 'touch', '/tmp/ready')
    await eventually('the api is ready', async () => {
      const last = (await listed()).at(-1)
      return last?.ready || undefined
    })
    const answer = await eventually('the api answers', async () => {
      const answer = await ask(cluster!, host('site'), '/api')
      return answer.status === 200 ? answer : undefined
    })
    expect(answer.body).toBe('hello\n')
    expect((await devctl('endpoints')).stdout).toBe(
      [
        `web  https://${host('web')}       ready, answers 200`,
        `web  https://${host('site')}      ready, answers 200`,
        `api  https://${host('site')}/api  ready, answers 200`,
      ]
        .map(line => `${line}; its certificate is not trusted: its issuer is not known here\n`)
        .join(''),
    )
  })
})
