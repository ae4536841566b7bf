import { expect } from 'vitest'
import { type Result, run } from '../run.ts'
import type { Cluster } from './cluster.ts'
import { type Asked, type Fault, FaultProxy } from './fault-proxy.ts'
import { type Project, withProject } from './project.ts'
import { generator } from './random.ts'
import { stateOf } from './state.ts'

const file = (web: string, more: string) => `services:
  web: {image: nginx:1.27-alpine, scale: 0, secrets: [token], configs: [page]${web}}
${more}
  db: {image: redis:7-alpine, scale: 0, volumes: [data:/data]}
volumes: {data: {}}
secrets: {token: {file: ./token}}
configs: {page: {content: hello}}
`

/** States between which the environment goes to and fro. */
const STATES: readonly { readonly compose: string; readonly command: readonly string[] }[] = [
  {
    compose: file(', ports: ["8080:80"]', '  api: {image: nginx:1.27-alpine, scale: 0}'),
    command: ['deploy', '--domain', 'example.com'],
  },
  {
    compose: file(', volumes: [/cache]', '  search: {image: nginx:1.27-alpine, scale: 0, expose: ["80"]}'),
    command: ['deploy', '--domain', 'example.com', '--wait'],
  },
  { compose: file('', ''), command: ['destroy', '--volumes'] },
]

const isWatch = ({ path }: Asked) => path.includes('watch=true')

/** Faults that a request may meet, each with its relative probability. */
const FAULTS: readonly (readonly [weight: number, fault: Fault, applies?: (asked: Asked) => boolean])[] = [
  [4, 'cut-before'],
  [4, 'cut-after', asked => !isWatch(asked)],
  [3, 'cut-inside', asked => !isWatch(asked)],
  [3, 'gone', isWatch],
  [3, { status: 500, body: 'Internal Server Error' }],
  [3, { status: 502, body: '<html>Bad gateway</html>' }],
  [3, { status: 503, headers: { 'retry-after': '1' } }],
  [3, { status: 429, headers: { 'retry-after': '1' }, body: 'slow down' }],
  // A write is waited for 35 s.
  [1, 'stall', ({ method }) => method === 'GET'],
  [0.2, 'stall', ({ method }) => method !== 'GET'],
  [1, 'stall-inside', asked => asked.method === 'GET' && !isWatch(asked)],
  // No API server says that; a gateway before it may.
  [0.3, { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>Sign in</html>' }],
  [0.3, { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' }],
  [0.3, { status: 200, headers: { 'content-type': 'application/json' }, body: 'null' }],
]

/** A fault for `rate` of all requests, the same ones for the same numbers as long as the requests are the same. */
function chooser(random: () => number, rate: number): (asked: Asked) => Fault | undefined {
  return asked => {
    if (random() >= rate) return undefined
    const possible = FAULTS.filter(([, , applies]) => applies?.(asked) ?? true)
    let left = random() * possible.reduce((sum, [weight]) => sum + weight, 0)
    return possible.find(([weight]) => {
      left -= weight
      return left <= 0
    })?.[1]
  }
}

/**
 * Returns true unless the object is a Lease. A command does not wait long to release its Lease: the next one takes it
 * over from a holder that no longer exists.
 */
const isNoLease = (object: string): boolean => !object.startsWith('Lease/')

/** Milliseconds after which a command must have ended, one way or the other. */
const BOUND = 180_000

/**
 * Goes to and fro between the states, each time with faults on the way to the API server. A command that says it went
 * well has reached its state; one that fails says why; and the same command without faults reaches the state in any
 * case.
 */
export async function tryRandomFaults(cluster: Cluster, runs: number, seed: number): Promise<{ failed: number }> {
  const proxy = new FaultProxy()
  const faulty = await proxy.open()
  let failed = 0
  try {
    await withProject(cluster, async project => {
      project.write('token', 'a token')
      const undisturbed: (readonly string[])[] = []
      for (const { compose, command } of STATES) {
        project.compose(compose)
        expect(await devctl(project, command)).toMatchObject({ status: 0 })
        undisturbed.push(await stateOf(cluster, project.name))
      }
      let current = STATES.length - 1
      for (let at = 0; at < runs; at++) {
        const random = generator(seed + at)
        const next = (current + 1 + Math.floor(random() * 2)) % STATES.length
        const { compose, command } = STATES[next]!
        const what = `seed ${seed + at}: ${command[0]} to state ${next}`
        project.compose(compose)
        proxy.injectEach(chooser(random, random() * 0.4))
        const began = Date.now()
        const { status, stderr } = await devctl(project, command, faulty)
        proxy.heal()
        expect(Date.now() - began, what).toBeLessThan(BOUND)
        if (status !== 0) {
          failed++
          expect(status, what).toBe(1)
          expect(stderr, what).toMatch(/^error: /m)
          expect(stderr, what).not.toMatch(/TypeError|is not a function|undefined|\n +at /)
        } else expect((await stateOf(cluster, project.name)).filter(isNoLease), what).toEqual(undisturbed[next])
        expect(await devctl(project, command), `${what}, after:\n${stderr}`).toMatchObject({ status: 0 })
        expect(await stateOf(cluster, project.name), `${what}, and again`).toEqual(undisturbed[next])
        current = next
      }
    })
  } finally {
    proxy.heal()
    await proxy.close()
  }
  return { failed }
}

function devctl(
  project: Project,
  command: readonly string[],
  kubeconfig = process.env.KUBECONFIG ?? '',
): Promise<Result> {
  const { name, directory } = project
  const env = { KUBECONFIG: kubeconfig, DEVCTL_HOME: `${directory}/.home` }
  return run([...command, '--name', name, '--namespace', name], { cwd: directory, env })
}
