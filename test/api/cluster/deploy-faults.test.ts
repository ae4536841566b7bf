import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from 'vitest'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { type Asked, FaultProxy } from '../../support/cluster/fault-proxy.ts'
import { type PlayedPod, playPods } from '../../support/cluster/play-pods.ts'
import { Program } from '../../support/cluster/program.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { generator } from '../../support/cluster/random.ts'
import { stateOf } from '../../support/cluster/state.ts'
import { type Result, run } from '../../support/run.ts'
import { few, longTest } from '../../support/takes-all.ts'

const cluster = findCluster()

/** An application with everything that a deploy has to wait for: a Job, a claim, a health check, a Secret. */
const COMPOSE = `services:
  web:
    image: nginx:1.27-alpine
    healthcheck: {test: "true"}
    depends_on: {db: {condition: service_healthy}, migrate: {condition: service_completed_successfully}}
    ports: ["8080:80"]
    secrets: [token]
    stop_grace_period: 1s
  migrate:
    image: busybox:1.37
    command: [sh, -c, "sleep 1"]
    restart: "no"
  db:
    image: redis:7-alpine
    volumes: [data:/data]
    healthcheck: {test: [CMD, redis-cli, ping], interval: 5s}
    stop_grace_period: 1s
volumes: {data: {}}
secrets: {token: {file: ./token}}
`

/** A service that never gets ready, and whose Pod ends only when the test allows it. */
const ENDLESS = `services:
  web:
    image: busybox:1.37
    command: [sleep, "1000"]
    healthcheck: {test: [CMD, endless], start_period: 5m}
`

/** Namespaces in which the Pods of the endless service may end. */
const ended = new Set<string | undefined>()
const isEndless = ({ spec }: PlayedPod) => JSON.stringify(spec).includes('"endless"')
const kubelet = playPods({
  isReady: pod => !isEndless(pod),
  mayEnd: pod => !isEndless(pod) || ended.has(pod.metadata.namespace),
})

/** The name of a Job depends on the name of the environment. */
const ENVIRONMENT = 'faulty'

const isWatch = ({ path }: Asked) => path.includes('watch=true')
const isWrite = ({ method, path }: Asked) => method !== 'GET' && !path.includes('dryRun')

/** Milliseconds after which a command counts as stuck. */
const BOUND = 150_000

interface Faulty {
  readonly project: Project
  readonly proxy: FaultProxy
  /** Environment that sends devctl through the proxy. */
  readonly env: Readonly<Record<string, string>>
  /** Runs devctl through the proxy; fails when it takes too long. */
  devctl(command: string, ...args: readonly string[]): Promise<Result>
  /** Starts the program as a separate process. */
  start(command: string, ...args: readonly string[]): Program
  /** Resolves when the API server has received a request that matches. */
  asked(what: (asked: Asked) => boolean): Promise<void>
}

async function withFaults(test: (faulty: Faulty) => Promise<void>): Promise<void> {
  const proxy = new FaultProxy()
  const kubeconfig = await proxy.open()
  try {
    await withProject(cluster!, project => {
      const { name, directory } = project
      const env = { KUBECONFIG: kubeconfig, DEVCTL_HOME: `${directory}/.home` }
      project.write('token', 'a token')
      const argv = (command: string, args: readonly string[]) => [
        ...[command, '--name', ENVIRONMENT, '--namespace', name],
        ...args,
      ]
      return test({
        project,
        proxy,
        env,
        devctl: async (command, ...args) => {
          const done = new AbortController()
          const late = sleep(BOUND, undefined, { signal: done.signal }).then(() => {
            throw new Error(`${command} is not over after ${BOUND} ms`)
          })
          late.catch(() => {})
          try {
            return await Promise.race([run(argv(command, args), { cwd: directory, env }), late])
          } finally {
            done.abort()
          }
        },
        start: (command, ...args) => new Program(argv(command, args), { cwd: directory, env }).read(),
        async asked(what) {
          await eventually('it is asked', async () => proxy.asked.some(what) || undefined, { pause: 5 })
        },
      })
    })
  } finally {
    proxy.heal()
    await proxy.close()
  }
}

const it = (name: string, body: (faulty: Faulty) => Promise<void>) =>
  test.concurrent(name, { timeout: 400_000 }, () => withFaults(body))

/** Declares a test that only `npm run test:long` runs. */
const longIt: typeof it = (name, body) => longTest(name, () => withFaults(body))

/** Fault that occurs while a command runs, until `signal` reports that the command has ended. */
type Trouble = (faulty: Faulty, signal: AbortSignal) => Promise<void> | void

const every =
  (nth: number, first = 0) =>
  (count = first) =>
  () =>
    count++ % nth === 0

/** Counts no watches: their responses have no end that could get lost. */
const everyCall = (nth: number) => {
  const isNext = every(nth)()
  return (asked: Asked) => !isWatch(asked) && isNext()
}

/** A command does not wait long for the release of its Lease: the next command takes it from a dead holder. */
const isNoLease = (object: string): boolean => !object.startsWith('Lease/')

/** The first two are tested before a merge. */
const TROUBLES: Readonly<Record<string, Trouble>> = {
  'connections that are cut again and again': async ({ proxy }, signal) => {
    const random = generator(Number(process.env.FAULTS_SEED ?? 4))
    while (!signal.aborted) {
      await sleep(50 + random() * 700)
      proxy.cut()
    }
  },
  '429 with Retry-After, 502 and 503': ({ proxy }) => {
    const headers = { 'retry-after': '1' }
    proxy.inject({ status: 429, headers, body: 'slow down' }, every(5)(1), 20)
    proxy.inject({ status: 503, headers }, every(4)(2), 20)
    proxy.inject({ status: 502, body: '<html>Bad gateway</html>' }, every(6)(3), 20)
  },
  'answers that get lost, after the server has done what was asked': ({ proxy }) =>
    proxy.inject('cut-after', everyCall(3), Number.POSITIVE_INFINITY),
  'answers that break off': ({ proxy }) => proxy.inject('cut-inside', everyCall(3), Number.POSITIVE_INFINITY),
  'watches that the server has forgotten': async ({ proxy }, signal) => {
    const isOdd = every(2)()
    proxy.inject('gone', asked => isWatch(asked) && isOdd(), Number.POSITIVE_INFINITY)
    while (!signal.aborted) {
      await sleep(400)
      proxy.cut()
    }
  },
  'a server that is down for three seconds, twice': async ({ proxy, asked }) => {
    for (const what of [isWrite, isWatch]) {
      proxy.asked.splice(0)
      await asked(what)
      await proxy.refuse()
      await sleep(3_000)
      await proxy.accept()
    }
  },
  'requests that nobody answers': ({ proxy }) => {
    proxy.inject('stall', ({ method, path }) => method === 'GET' && !path.includes('watch=true'))
    proxy.inject('stall', isWrite)
    proxy.inject('stall-inside', ({ method, path }) => method === 'GET' && !path.includes('watch=true'))
  },
}

/** Runs a function while a fault occurs. */
async function amid<T>(trouble: Trouble, faulty: Faulty, work: () => Promise<T>): Promise<T> {
  const over = new AbortController()
  const troubled = Promise.resolve(trouble(faulty, over.signal))
  try {
    return await work()
  } finally {
    over.abort()
    await troubled
    faulty.proxy.heal()
  }
}

describe.skipIf(cluster === undefined)('deploy and destroy with a faulty connection to the API server', () => {
  let undisturbed: Promise<readonly string[]> | undefined
  const expected = () => {
    undisturbed ??= (async () => {
      let state: readonly string[] = []
      await withFaults(async ({ project, devctl }) => {
        project.compose(COMPOSE)
        expect(await devctl('deploy', '--wait')).toMatchObject({ status: 0 })
        state = await stateOf(cluster!, project.name, ENVIRONMENT)
      })
      return state
    })()
    return undisturbed
  }

  afterAll(() => cluster?.close())

  for (const [name, trouble] of few(Object.entries(TROUBLES)))
    it(`deploy and destroy have the usual result despite ${name}`, async faulty => {
      const { project, devctl } = faulty
      const state = await expected()
      project.compose(COMPOSE)
      const deployed = await amid(trouble, faulty, () => devctl('deploy', '--wait'))
      expect(deployed.status, deployed.stderr).toBe(0)
      expect((await stateOf(cluster!, project.name, ENVIRONMENT)).filter(isNoLease)).toEqual(state)
      const again = await devctl('deploy', '--wait')
      // If the release of the Lease got lost, this deploy takes the Lease over, and says that it has deployed.
      expect(again.stderr).toMatch(/is up to date|Planned: \d+ unchanged\n/)
      const destroyed = await amid(trouble, faulty, () => devctl('destroy', '--volumes', '--wait'))
      expect(destroyed.status, destroyed.stderr).toBe(0)
      expect((await stateOf(cluster!, project.name, ENVIRONMENT)).filter(isNoLease)).toEqual([])
    })

  it('deploy reports a server that is lost while it writes', async ({ project, proxy, devctl, asked }) => {
    project.compose(COMPOSE)
    const deploying = devctl('deploy', '--wait')
    await asked(one => isWrite(one) && one.path.includes('deployments'))
    await proxy.refuse()
    const { status, stderr } = await deploying
    expect(status).toBe(1)
    expect(stderr).toMatch(/error: nothing listens at `http:\/\/127\.0\.0\.1:\d+`/)
    expect(stderr).toContain('is partly deployed to')
    await proxy.accept()
    expect(await devctl('deploy', '--wait')).toMatchObject({ status: 0 })
  })

  longIt('deploy reports a server that is lost while it waits', async ({ project, proxy, start }) => {
    project.compose(ENDLESS)
    const program = start('deploy', '--wait')
    await eventually('it waits', async () => /web: Deployment 0\/1/.test(program.stderr) || undefined)
    await proxy.refuse()
    expect(await program.status).toBe(1)
    const { stderr } = program
    expect(stderr).toMatch(/error: nothing listens at/)
    expect(stderr).toMatch(/is partly deployed to .*web is not ready/)
  })

  longIt('destroy reports a server that is lost while it waits', async ({ project, proxy, devctl }) => {
    project.compose(ENDLESS)
    expect(await devctl('deploy')).toMatchObject({ status: 0 })
    await eventually('the Pod runs', async () => {
      const phases = await project.kubectl('get', 'pods', '--output=jsonpath={.items[*].status.phase}')
      return phases === 'Running' || undefined
    })
    const destroying = devctl('destroy', '--wait')
    await eventually('the Deployment ends', async () => {
      const { metadata } = JSON.parse(await project.kubectl('get', 'deployment', 'web', '--output=json'))
      return metadata.deletionTimestamp
    })
    await proxy.refuse()
    const { status, stderr } = await destroying
    expect(status).toBe(1)
    expect(stderr).toMatch(/error: nothing listens at/)
    expect(stderr).toMatch(/is partly destroyed in .* Destroy again to continue/)
    await proxy.accept()
    ended.add(project.name)
    kubelet.recheck()
    expect(await devctl('destroy', '--wait')).toMatchObject({ status: 0 })
    expect(await stateOf(cluster!, project.name, ENVIRONMENT)).toEqual([])
  })

  for (const signal of few(['SIGINT', 'SIGTERM'] as const)) {
    it(`deploy and destroy release the Lease and report the state after ${signal}`, async faulty => {
      const { project, start } = faulty
      project.compose(`${ENDLESS}  api: {image: "nginx:1.27-alpine", healthcheck: {test: "true"}}\n`)
      const program = start('deploy', '--wait')
      await eventually('api is ready', async () => /api: Deployment 1\/1 ready\n/.test(program.stderr) || undefined)
      expect(await project.kubectl('get', 'leases', '--output=name')).toContain(`devctl-${ENVIRONMENT}`)
      const { status, milliseconds } = await program.interrupt(signal)
      expect(status, program.stderr).toBe(130)
      expect(milliseconds).toBeLessThan(30_000)
      expect(program.stderr).toMatch(
        /is partly deployed to .*: api is ready; web is not ready\. Deploy again to continue/,
      )
      expect(program.stderr).toMatch(/interrupted\n$/)
      expect(await project.kubectl('get', 'leases', '--output=name')).toBe('')

      const destroying = start('destroy', '--wait')
      await eventually('web is deleted', async () => /deleted deployment\/web/.test(destroying.stderr) || undefined)
      expect((await destroying.interrupt(signal)).status, destroying.stderr).toBe(130)
      expect(destroying.stderr).toMatch(/is partly destroyed in .* Destroy again to continue\ninterrupted\n$/)
      expect(await project.kubectl('get', 'leases', '--output=name')).toBe('')
      expect(await faulty.devctl('destroy')).toMatchObject({ status: 0 })
    })
  }

  it('deploy reports no change when it is interrupted before a write', async ({ project, proxy, start, asked }) => {
    project.compose(ENDLESS)
    proxy.inject('stall', ({ path }) => path.includes('dryRun'), Number.POSITIVE_INFINITY)
    const program = start('deploy')
    await asked(({ path }) => path.includes('dryRun'))
    const { status, milliseconds } = await program.interrupt()
    expect(status).toBe(130)
    expect(milliseconds).toBeLessThan(8_000)
    expect(program.stderr).toMatch(/nothing was changed for .*\ninterrupted\n$/)
  })

  it('a second SIGINT ends deploy although the server does not respond', async ({ project, proxy, start, asked }) => {
    project.compose(ENDLESS)
    const isLast = ({ method, path }: Asked) => method === 'DELETE' && path.includes('leases')
    proxy.inject('stall', isLast, Number.POSITIVE_INFINITY)
    const program = start('deploy', '--wait')
    await eventually('it waits', async () => /web: Deployment 0\/1/.test(program.stderr) || undefined)
    program.process.kill('SIGINT')
    await asked(isLast)
    await sleep(700)
    const { status, milliseconds } = await program.interrupt()
    expect(status).toBe(130)
    expect(milliseconds).toBeLessThan(2_000)
  })
})
