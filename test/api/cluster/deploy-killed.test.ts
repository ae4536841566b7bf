import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { FaultProxy } from '../../support/cluster/fault-proxy.ts'
import { type Project, withProject } from '../../support/cluster/project.ts'
import { generator } from '../../support/cluster/random.ts'
import { stateOf } from '../../support/cluster/state.ts'

const cluster = findCluster()

const RUNS = Number(process.env.KILLED_RUNS ?? 4)

const files = (web: string, more: string) => `services:
  web:
    image: nginx:1.27-alpine
    scale: 0
    secrets: [token]
    configs: [page]
${web}
${more}
  db:
    image: redis:7-alpine
    scale: 0
    volumes: [data:/data]
volumes: {data: {}}
secrets: {token: {file: ./token}}
configs: {page: {content: hello}}
`

/** States that the environment changes between; the last one is its end. */
const STATES: readonly { readonly compose: string; readonly command: readonly string[] }[] = [
  {
    compose: files('    ports: ["8080:80"]', '  api: {image: nginx:1.27-alpine, scale: 0}'),
    command: ['deploy', '--domain', 'example.com'],
  },
  {
    compose: files('    volumes: [/var/cache]', '  search: {image: nginx:1.27-alpine, scale: 0, expose: ["80"]}'),
    command: ['deploy', '--domain', 'example.com'],
  },
  { compose: files('', ''), command: ['destroy', '--volumes'] },
]

describe.skipIf(cluster === undefined)('a process that is killed', () => {
  afterAll(() => cluster?.close())

  test(`the next run completes what a killed process has left, ${RUNS} times`, { timeout: 900_000 }, async () => {
    const proxy = new FaultProxy()
    const kubeconfig = await proxy.open()
    onTestFinished(() => proxy.close())

    /** Runs the program as a separate process; the code is undefined if it was killed at this request. */
    async function execute(
      { directory, name }: Project,
      command: readonly string[],
      request = Number.POSITIVE_INFINITY,
    ) {
      const args = [join(root, 'bin/devctl.cjs'), ...command, '--name', name, '--namespace', name]
      const env = { ...process.env, KUBECONFIG: kubeconfig }
      let requests = 0
      const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore', env })
      proxy.injectEach(() => {
        requests++
        if (requests === request) child.kill('SIGKILL')
        return undefined
      })
      const [code] = await once(child, 'exit')
      return { code: (code as number | null) ?? undefined, requests }
    }

    await withProject(cluster!, async project => {
      project.write('token', 'a token')
      const seed = Number(process.env.KILLED_SEED ?? Date.now() % 1_000_000)
      const random = generator(seed)
      const undisturbed: { readonly objects: readonly string[]; requests: number }[] = []
      for (const { compose, command } of STATES) {
        project.compose(compose)
        const { code, requests } = await execute(project, command)
        expect(code).toBe(0)
        undisturbed.push({ objects: await stateOf(cluster!, project.name), requests })
      }
      expect(undisturbed[2]!.objects).toEqual([])
      let current = 2
      let killed = 0
      for (let run = 0; run < RUNS; run++) {
        const next = (current + 1 + Math.floor(random() * 2)) % STATES.length
        const { compose, command } = STATES[next]!
        project.compose(compose)
        const request = 1 + Math.floor(random() * undisturbed[next]!.requests)
        if ((await execute(project, command, request)).code === undefined) killed++
        const what = `run ${run} of seed ${seed}: ${command[0]} to state ${next}, killed at request ${request}`
        const { code, requests } = await execute(project, command)
        expect(code, what).toBe(0)
        // The way from another state takes fewer requests.
        undisturbed[next]!.requests = Math.min(undisturbed[next]!.requests, requests)
        expect(await stateOf(cluster!, project.name), what).toEqual(undisturbed[next]!.objects)
        current = next
      }
      expect(killed, 'many runs were killed before their end').toBeGreaterThan(RUNS / 2)
    })
  })
})
