import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
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

/** States between which the environment goes to and fro; the last one is its end. */
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

  test(`leaves nothing that the next run does not mend, ${RUNS} times`, { timeout: 900_000 }, () =>
    withProject(cluster!, async project => {
      project.write('token', 'a token')
      const seed = Number(process.env.KILLED_SEED ?? Date.now() % 1_000_000)
      const random = generator(seed)
      const undisturbed: { readonly objects: readonly string[]; milliseconds: number }[] = []
      for (const { compose, command } of STATES) {
        project.compose(compose)
        const began = Date.now()
        expect(await execute(project, command, undefined)).toBe(0)
        const milliseconds = Date.now() - began
        undisturbed.push({ objects: await stateOf(cluster!, project.name), milliseconds })
      }
      expect(undisturbed[2]!.objects).toEqual([])
      let current = 2
      let killed = 0
      for (let run = 0; run < RUNS; run++) {
        const next = (current + 1 + Math.floor(random() * 2)) % STATES.length
        const { compose, command } = STATES[next]!
        project.compose(compose)
        const after = Math.round(100 + random() * undisturbed[next]!.milliseconds)
        if ((await execute(project, command, after)) === undefined) killed++
        const what = `run ${run} of seed ${seed}: ${command[0]} to state ${next}, killed after ${after} ms`
        const began = Date.now()
        expect(await execute(project, command, undefined), what).toBe(0)
        // A machine that is busier or idler than at the start has other times.
        const took = Date.now() - began
        undisturbed[next]!.milliseconds = (undisturbed[next]!.milliseconds + took) / 2
        expect(await stateOf(cluster!, project.name), what).toEqual(undisturbed[next]!.objects)
        current = next
      }
      expect(killed, 'many runs were killed before their end').toBeGreaterThan(RUNS / 8)
    }),
  )
})

/** Runs the program as users have it; undefined when it was killed, `after` so many milliseconds. */
function execute({ directory, name }: Project, command: readonly string[], after: number | undefined) {
  const args = [join(root, 'bin/devctl.cjs'), ...command, '--name', name, '--namespace', name]
  return new Promise<number | undefined>((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: directory, stdio: 'ignore' })
    const timer = after === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), after)
    child.on('error', reject)
    child.on('exit', code => {
      clearTimeout(timer)
      resolve(code ?? undefined)
    })
  })
}
