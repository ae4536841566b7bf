import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { PENDING, RUNNING } from '../../pods/develop/no-node.ts'
import { write } from '../../support/cli/folder.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { FaultProxy } from '../../support/cluster/fault-proxy.ts'

// Tests the requests that `up` sends before its container starts, and a connection to the Pod that hangs.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const COMPOSE = `name: shop
services:
  api:
    image: node:22-alpine
    working_dir: /app
    command: ["sleep", "3600"]
    user: "1000:1000"
    stop_grace_period: 1s
    ${PENDING}
`
const MANIFEST = `deploy: {compose: compose.yaml}
dev:
  api:
    command: ["sleep", "3600"]
    workdir: /app
    sync: ["./files:/app"]
    ${RUNNING}
`
/** Longest chain of sequential requests that is allowed before the mirror is applied. */
const STEPS = 8

interface Exchange {
  readonly path: string
  readonly method: string
  readonly began: number
  readonly ended: number
}

/** Returns the longest chain of requests in which each began after the previous one had ended. */
function longestChain(exchanges: readonly Exchange[]): readonly string[] {
  const chain: Exchange[] = []
  for (const one of [...exchanges].sort((a, b) => a.ended - b.ended))
    if (one.began >= (chain.at(-1)?.ended ?? 0)) chain.push(one)
  return chain.map(({ method, path }) => `${method} ${path}`)
}

describe.skipIf(cluster === undefined)('the start of up', () => {
  let place: DevelopmentPlace
  const proxy = new FaultProxy()

  beforeAll(async () => {
    const KUBECONFIG = await proxy.open()
    place = await openDevelopment(cluster!, 'up-start', { KUBECONFIG })
    write(place.folder, { 'compose.yaml': COMPOSE, 'devctl.yml': MANIFEST, 'files/a.txt': 'a' })
    const deploy = place.devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
  })
  afterAll(async () => {
    await place?.close()
    await proxy.close()
  })

  /**
   * Runs a command, and returns the requests until `last` was answered. Each answer is delayed so that requests that
   * are sent together overlap on a busy machine, too.
   */
  async function asked(words: readonly string[], last: (one: Exchange) => boolean): Promise<readonly Exchange[]> {
    const before = proxy.exchanges.length
    proxy.delay = 250
    const program = place.devctl(...words)
    expect(await program.status, program.stderr).toBe(0)
    proxy.delay = 0
    const all = proxy.exchanges.slice(before)
    const end = all.find(last)
    return end ? all.filter(({ ended }) => ended <= end.ended) : all
  }

  test('up sends few sequential requests before the mirror is applied, and in a dry run', async () => {
    const dryRun = await asked(['up', '--dry-run'], () => false)
    expect(dryRun.length).toBeGreaterThan(10)
    expect(longestChain(dryRun).length, longestChain(dryRun).join('\n')).toBeLessThanOrEqual(STEPS - 3)
    const isMirror = ({ method, path }: Exchange) =>
      method === 'PATCH' && path.includes('/deployments/api-dev?') && !path.includes('dryRun')
    const all = await asked(['up', '--detach'], isMirror)
    expect(all.some(isMirror)).toBe(true)
    expect(longestChain(all).length, longestChain(all).join('\n')).toBeLessThanOrEqual(STEPS)
    const down = place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
  })

  test('a port-forward that hangs is soon replaced', async () => {
    const begun: number[] = []
    proxy.injectEach(({ path }) => {
      if (!path.includes('/portforward')) return undefined
      begun.push(performance.now())
      return begun.length === 1 ? 'stall' : undefined
    })
    const up = place.devctl('up', '--detach')
    expect(await up.status, up.stderr).toBe(0)
    proxy.heal()
    expect(begun.length).toBeGreaterThan(1)
    expect(begun[1]! - begun[0]!).toBeLessThan(9000)
    const down = place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
  })
})
