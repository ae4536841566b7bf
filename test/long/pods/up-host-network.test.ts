import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { freePort } from '../../support/develop/free-port.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const SERVER = `require('http').createServer((_, a) => a.end(require('fs').readFileSync('/app/page', 'utf8'))).listen(process.env.PORT)`

describe.skipIf(cluster === undefined)('devctl up of Pods with the network of their node', () => {
  let place: DevelopmentPlace
  const ports: number[] = []
  /** The services that are developed. */
  const names = ['web0', 'web1']

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-host-network')
    ports.push(await freePort(), await freePort())
    write(place.folder, {
      'compose.yaml': `name: shop
services:
${ports
  .map(
    (port, index) => `  web${index}:
    image: node:22-alpine
    command: ["node", "/app/server.js"]
    user: "1000:1000"
    network_mode: host
    environment: {PORT: "${port}"}
    volumes: ["./web${index}:/app"]
    stop_grace_period: 1s
`,
  )
  .join('')}`,
      ...Object.fromEntries(
        ports.flatMap((_, index) => [
          [`web${index}/server.js`, SERVER],
          [`web${index}/page`, 'one'],
        ]),
      ),
    })
  })
  afterAll(async () => {
    for (const name of names) await place?.devctl('down', name).status
    await place?.close()
  })

  /** Waits until the server of a service answers its own Pod with the text. */
  const says = (name: string, text: string) =>
    eventually(`${name} says \`${text}\``, async () => {
      const url = `http://127.0.0.1:${ports[name === 'web0' ? 0 : 1]}/`
      const exec = place.devctl('exec', name, '--', '/devctl-tools/busybox', 'wget', '-qO-', url)
      return (await exec.status) === 0 && exec.stdout === text ? true : undefined
    })

  test('two Pods on one node listen on no port of the agent', async () => {
    for (const name of names) {
      const up = place.devctl('up', name, '--detach')
      expect(await up.status, up.stderr).toBe(0)
    }
    for (const name of names) {
      writeFileSync(join(place.folder, name, 'page'), `two of ${name}`)
      await says(name, `two of ${name}`)
    }
    const exec = place.devctl('exec', 'web0', '--', '/devctl-tools/busybox', 'netstat', '-ltn')
    expect(await exec.status, exec.stderr).toBe(0)
    expect(exec.stdout).toContain(`:${ports[0]} `)
    expect(exec.stdout).not.toContain(':2223 ')
  })
})
