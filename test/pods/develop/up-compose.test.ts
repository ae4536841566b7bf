import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { freePort } from '../../support/develop/free-port.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'
import { type DevelopmentPlace, openDevelopment } from './development.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** HTTP server that answers with the text of two files: it reads one for each request, and one at its start. */
const SERVER = `
const { readFileSync } = require('fs')
const settings = readFileSync('/app/settings.txt', 'utf8')
require('http').createServer((_, answer) => answer.end(readFileSync('/app/page.txt', 'utf8') + settings)).listen(8080)
console.log('listening with ' + settings)
`

describe.skipIf(cluster === undefined)('devctl up with only a Compose file', () => {
  let place: DevelopmentPlace
  let port = 0

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'up-compose')
    port = await freePort()
    write(place.folder, {
      'compose.yaml': `name: shop
services:
  web:
    image: node:22-alpine
    working_dir: /app
    command: ["node", "server.js"]
    user: "1000:1000"
    volumes: [".:/app"]
    ports: ["${port}:8080"]
    stop_grace_period: 1s
    develop: {watch: [{path: settings.txt, action: sync+restart, target: /app/settings.txt}]}
  migrate:
    image: busybox:1.37
    restart: "no"
    entrypoint: ["sh", "-c"]
    command: ["echo migrated $$(cat /jobs/word.txt)"]
    volumes: ["./jobs:/jobs"]
`,
      'server.js': SERVER,
      'page.txt': 'one ',
      'settings.txt': 'first',
      'jobs/word.txt': 'one',
      // More than a deploy can copy.
      'large.txt': 'x'.repeat(1_200_000),
    })
  })
  afterAll(async () => {
    await place.devctl('down').status
    await place.close()
  })

  const devctl = (...words: readonly string[]) => place.devctl(...words)

  /** Waits until this machine gets the page over the forward of the published port. */
  const page = (text: string) =>
    eventually(`the page is \`${text}\``, async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(60_000) }).catch(
        () => undefined,
      )
      return answer && (await answer.text()) === text ? true : undefined
    })

  test('up --detach syncs files, restarts by a watch rule, and survives a deleted Pod', async () => {
    const up = devctl('up', '--detach')
    expect(await up.status, up.stderr).toBe(0)
    expect(up.stderr).toContain('`devctl down web` ends it')
    expect(up.stderr).not.toContain('volumes/host')
    await page('one first')

    writeFileSync(join(place.folder, 'page.txt'), 'two ')
    await page('two first')

    writeFileSync(join(place.folder, 'settings.txt'), 'second')
    await page('two second')

    await cluster!.kubectl(
      '--namespace',
      place.namespace,
      'delete',
      'pod',
      '--selector',
      'dev.platform/mirror=web',
      '--wait=false',
    )
    writeFileSync(join(place.folder, 'page.txt'), 'three ')
    await page('three second')

    if (TAKES_ALL) {
      const again = devctl('up')
      expect(await again.status).toBe(1)
      expect(again.stderr).toContain('`devctl up web` already runs on this machine')
    }

    const down = devctl('down')
    expect(await down.status, down.stderr).toBe(0)
    expect(down.stderr).toContain('statefulset/web is restored')
    const status = devctl('status')
    expect(await status.status).toBe(1)
    expect(status.stderr).toContain('no development container of this project is active')
  })

  test('up runs a Job once, and `restart` runs it again', async () => {
    const up = devctl('up', 'migrate')
    const said = (text: string) =>
      eventually(`it says \`${text}\``, async () => (up.stdout + up.stderr).includes(text) || undefined, {
        explain: async () => up.stdout + up.stderr,
      })
    await said('migrated one')
    await said('the Job has ended with status 0')
    await said('`devctl restart migrate` runs it again')
    writeFileSync(join(place.folder, 'jobs/word.txt'), 'two')
    await eventually('the file is in the container', async () => {
      const program = devctl('exec', 'migrate', '--', 'cat', '/jobs/word.txt')
      return ((await program.status) === 0 && program.stdout === 'two') || undefined
    })
    const restart = devctl('restart', 'migrate')
    expect(await restart.status, restart.stderr).toBe(0)
    await said('migrated two')
    expect((up.stdout + up.stderr).match(/migrated (one|two)/g)).toEqual(['migrated one', 'migrated two'])
    const down = devctl('down', 'migrate')
    expect(await down.status, down.stderr).toBe(0)
  })
})
