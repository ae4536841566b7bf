import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const PROGRAM = join(root, 'bin/devctl.cjs')

const compose = `services:
  web:
    image: busybox:1.37
    entrypoint: [sh, -c]
    command: ["httpd -f -p 8080"]
    environment: {COLOUR: blue, SIZE: small}
    expose: ["8080"]
    healthcheck: {test: "true"}
    stop_grace_period: 1s
jobs:
  fail:
    image: busybox:1.37
    command: [sh, -c, 'echo "the job fails"; exit 3']
    depends_on: {web: {condition: service_healthy}}
    triggers: {manual: true}
  slow: {image: "busybox:1.37", command: [sh, -c, 'echo begun; sleep 600'], triggers: {schedule: ["0 3 * * *"]}}
  absent: {image: "no-such-image:1", triggers: {manual: true}}
  folder: {image: "busybox:1.37", command: [/etc], triggers: {manual: true}}
  broken: {image: "busybox:1.37", command: [no-such-program], triggers: {manual: true}}
`

describe.skipIf(cluster === undefined)('devctl run', () => {
  afterAll(() => cluster?.close())

  test('prints the output of a job or a command, and passes on its exit status', () =>
    withProject(cluster!, async project => {
      project.compose(compose)
      const { devctl, kubectl } = project
      const early = await devctl('run', 'fail')
      expect(early.stderr).toContain('not deployed')
      expect(early.status).toBe(1)
      expect((await devctl('deploy', '--wait')).status).toBe(0)

      const job = await devctl('run', 'fail')
      expect(job.stdout, job.stderr).toBe('the job fails\n')
      expect(job.status).toBe(3)
      const names = '--output=jsonpath={.items[*].metadata.ownerReferences[0].name}'
      expect(await kubectl('get', 'jobs', names), 'the run is kept').toBe('fail')

      const command = await devctl('run', '--rm', '-e', 'SIZE=big', 'web', '--', 'echo $COLOUR $SIZE')
      expect(command.stdout, command.stderr).toBe('blue big\n')
      expect(command.status).toBe(0)
      expect(await kubectl('get', 'jobs', names), '--rm deletes the run').toBe('fail')

      const quiet = await devctl('run', '--quiet', '--rm', 'web', '--', 'echo out; exit 3')
      expect(quiet).toEqual({ status: 3, stdout: 'out\n', stderr: '' })

      const detached = await devctl('run', '--detach', 'web', '--', 'sleep 600')
      expect(detached.stdout).toMatch(/^web-run-[0-9a-f]{8}\n$/)
      expect((await project.get(`job/${detached.stdout.trim()}`)).spec['ttlSecondsAfterFinished']).toBe(86_400)
      const gone = await devctl('run', '--rm', '--detach', 'web', '--', 'true')
      expect(gone.stdout, gone.stderr).toMatch(/^web-run-/)
      const jobs = () => kubectl('get', 'jobs', '--output=name')
      await expect.poll(jobs, { timeout: 30_000 }).not.toContain(gone.stdout.trim())

      const literal = await devctl('run', '--rm', '-e', 'A=$(SIZE)$$', 'web', '--', `echo "$A" pid $$ '$(SIZE)'`)
      expect(literal.stdout, literal.stderr).toBe('$(SIZE)$$ pid 1 $(SIZE)\n')
      const addresses = '--output=jsonpath={.subsets[*].addresses[*].targetRef.name}'
      expect(await kubectl('get', 'endpoints/web', addresses), 'no traffic goes to a run').not.toContain('run')

      const broken = await devctl('run', 'broken')
      expect(broken.status).toBe(127)
      expect(broken.stderr).toContain('no-such-program')
      const folder = await devctl('run', 'folder')
      expect(folder.status, folder.stderr).toBe(126)

      expect((await devctl('destroy', '--wait')).status).toBe(0)
      expect(await kubectl('get', 'cronjobs', '--output=name')).toBe('')
    }))

  test('passes on piped input, ends with Ctrl-C, and leaves nothing of a run that cannot start', () =>
    withProject(cluster!, async project => {
      project.compose(compose)
      const { devctl, kubectl, name, directory } = project
      expect((await devctl('deploy', '--wait')).status).toBe(0)
      const jobNames = () => kubectl('get', 'jobs', '--output=jsonpath={.items[*].metadata.name}')
      const none = await devctl('logs', 'slow', '--no-follow')
      expect(none.stderr).toContain('slow has no run yet: `devctl run slow` starts one')

      const absent = await devctl('run', 'absent')
      expect(absent.stderr).toContain('its image cannot be pulled')
      expect(absent.status).toBe(1)
      expect(await jobNames(), 'nothing is left').toBe('')

      const start = (...words: readonly string[]) =>
        spawn(process.execPath, [PROGRAM, 'run', '--name', name, '--namespace', name, ...words], { cwd: directory })
      const piped = start('--rm', 'web', '--', 'read a; read b; echo "$a, $b"; cat; exit 4')
      piped.stdin.end(`one\ntwo\n${'x'.repeat(100_000)}`)
      const [output, [status]] = await Promise.all([text(piped.stdout), once(piped, 'close')])
      expect(output).toBe(`one, two\n${'x'.repeat(100_000)}`)
      expect(status).toBe(4)

      // The log of containerd has no carriage returns before line ends.
      const random = `head -c 3000000 /dev/urandom | tr -d '\\r' | tee /tmp/x; md5sum < /tmp/x`
      const dump = start('--rm', '-e', 'TOKEN=customers', 'web', '--', `echo "CREATE TABLE customers;"; ${random}`)
      dump.stdin.end()
      const [bytes] = await Promise.all([buffer(dump.stdout), once(dump, 'close')])
      const table = 'CREATE TABLE customers;\n'
      expect(bytes.subarray(0, table.length).toString()).toBe(table)
      const sum = createHash('md5').update(bytes.subarray(table.length, -36)).digest('hex')
      expect(bytes.subarray(-36).toString()).toBe(`${sum}  -\n`)

      const slow = start('slow')
      await once(slow.stdout, 'data')
      const [shown] = await Promise.all([devctl('logs', 'slow', '--no-follow'), devctl('jobs')])
      expect(shown.stdout).toContain('begun')
      expect((await devctl('jobs', 'slow')).stdout).toMatch(/^slow {2,}slow-run-[0-9a-f]+ {2,}manual {2,}running/m)
      slow.kill('SIGINT')
      expect(await once(slow, 'close')).toEqual([130, null])
      await expect.poll(jobNames, { timeout: 30_000 }).toBe('')

      const killed = start('slow')
      await once(killed.stdout, 'data')
      killed.kill('SIGKILL')
      await once(killed, 'close')
      const left = await jobNames()
      expect((await devctl('jobs', 'slow')).stdout).toMatch(/^slow {2,}slow-run-[0-9a-f]+ {2,}manual {2,}running/m)
      expect((await devctl('logs', left, '--no-follow')).stdout).toContain('begun')
      expect((await devctl('stop', left)).stderr).toContain(`${left} is ended and deleted`)
      await expect.poll(jobNames, { timeout: 30_000 }).toBe('')

      const suspended = async (job: string) => (await project.get(`cronjob/${job}`)).spec['suspend'] ?? false
      expect((await devctl('stop', 'slow')).status).toBe(0)
      expect(await suspended('slow')).toBe(true)
      expect((await devctl('jobs', 'slow')).stdout).toContain('suspended')
      expect((await devctl('start', 'slow')).status).toBe(0)
      expect(await suspended('slow')).toBe(false)
      expect((await devctl('destroy', '--wait')).status).toBe(0)
    }))
})
