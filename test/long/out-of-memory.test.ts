import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../pods/develop/development.ts'
import { write } from '../support/cli/folder.ts'
import { eventually, findCluster } from '../support/cluster/cluster.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    user: "1000:1000"
    working_dir: /app
    command: ["sleep", "3600"]
    stop_grace_period: 1s
`
/** Program that allocates more and more memory once the file `grow` exists. */
const GROWS = `const all = []; console.log('began')
setInterval(() => { if (require('fs').existsSync('grow')) all.push(Buffer.alloc(20e6, 1)) }, 20)`
const manifest = (more: string) => `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["node", "-e", ${JSON.stringify(GROWS)}]
    workdir: /app
    sync: ["./files:/app"]
${more}`

describe.skipIf(cluster === undefined)('a development container without enough memory', () => {
  let place: DevelopmentPlace

  beforeAll(async () => {
    place = await openDevelopment(cluster!, 'memory')
    write(place.folder, { 'compose.yaml': COMPOSE, 'files/a.txt': 'a\n' })
  })
  afterAll(() => place?.close())

  test('up and exec name the limit to raise when a command needs more memory', async () => {
    write(place.folder, { 'devctl.yml': manifest('    resources: {limits: {memory: 128Mi}}\n') })
    const up = place.devctl('up')
    await up.until(/^began$/, 180)
    // The kernel kills the process or the whole container, depending on the node's configuration.
    const text =
      'container `api` ran out of memory (its limit is 128Mi; raise `resources.limits.memory` of the development container)'
    const exec = place.devctl('exec', '--', 'node', '-e', 'const a = []; for (;;) a.push(Buffer.alloc(20e6, 1))')
    expect(await exec.status, exec.stderr).toBe(137)
    expect(exec.stderr).toContain(text)
    // The command runs again if the whole container was killed.
    write(place.folder, { 'files/grow': '' })
    await eventually('the limit is named', async () => up.stderr.includes(text) || undefined, {
      explain: async () => up.stderr,
    })
    // `up` also ends if only its process was killed, and the signal may arrive meanwhile.
    up.process.kill('SIGTERM')
    expect([130, 137, null]).toContain(await up.status)
  })

  test('up names the limit to raise when the agent has too little memory', async () => {
    write(place.folder, { 'devctl.yml': manifest('    initContainer: {resources: {limits: {memory: 16Mi}}}\n') })
    const up = place.devctl('up')
    expect(await up.status).toBe(1)
    expect(up.stderr).toContain(
      'has no agent: it ran out of memory; raise `initContainer.resources` of the development container',
    )
  })
})
