import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { write } from '../../support/cli/folder.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { writeKubeconfig } from '../../support/cluster/kubeconfig-file.ts'
import { Program } from '../../support/cluster/program.ts'
import { TcpProxy } from '../../support/cluster/tcp-proxy.ts'
import { run } from '../../support/run.ts'
import { longTest, TAKES_ALL } from '../../support/takes-all.ts'

const cluster = findCluster()
const hasNodes = (await cluster?.hasNodes()) ?? false

/** Shell loop that prints `count NUMBER`, twenty a second, starting at 0. */
const COUNTER = 'i=0; while true; do echo "count $$i"; i=$$((i+1)); sleep 0.05; done'

const JOB = `  migrate:
    image: busybox:1.36
    restart: "no"
    command: ["sh", "-c", "echo migrating; sleep 2; echo migrated"]
`

const compose = (greeting: string) => `
name: talk
services:
  ticker:
    image: busybox:1.36
    command: ["sh", "-c", "echo '${greeting}'; while true; do date; sleep 1; done"]
    stop_grace_period: 1s
  counter:
    image: busybox:1.36
    command: ["sh", "-c", ${JSON.stringify(COUNTER)}]
    stop_grace_period: 1s
  silent_one:
    image: busybox:1.36
    attach: false
    command: ["sh", "-c", "echo 'nobody asked'; sleep 3600"]
    stop_grace_period: 1s
${TAKES_ALL ? JOB : ''}`

describe.skipIf(!hasNodes)('logs of Pods', () => {
  const namespace = `logs-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), 'devctl-logs-'))
  const env = { KUBECONFIG: process.env.KUBECONFIG! }
  const open: Program[] = []
  /** Follows logs until the test ends. */
  const logs = (argv: readonly string[], more: Readonly<Record<string, string>> = {}) => {
    const program = new Program(['logs', '--namespace', namespace, ...argv], { cwd: folder, env: { ...env, ...more } })
    open.push(program)
    return program
  }
  const deploy = async (greeting: string) => {
    write(folder, { 'compose.yaml': compose(greeting) })
    const { status, stderr } = await run(['deploy', '--namespace', namespace], { cwd: folder, env })
    expect(status, stderr).toBe(0)
  }
  const kubectl = (...args: string[]) => cluster!.kubectl('--namespace', namespace, ...args)

  beforeAll(async () => {
    await cluster!.createNamespace(namespace)
    await deploy('version 1')
  })
  afterAll(async () => {
    for (const { process } of open) process.kill('SIGKILL')
    rmSync(folder, { recursive: true })
    await cluster!.deleteNamespace(namespace)
    cluster!.close()
  })

  test('logs continues with the Pods of the next rollout and leaves out unattached services', async () => {
    const program = logs([]).read()
    await program.until(/^ticker-\w+ +\| version 1$/)
    await deploy('version 2')
    await program.until(/^ticker-\w+ +\| version 2$/)
    expect(program.stdout).not.toContain('nobody asked')
    expect(program.stderr).toContain(
      '`silent_one` has `attach: false` and is left out; `devctl logs silent_one` shows it\n',
    )
    const { status, milliseconds } = await program.interrupt()
    expect(status).toBe(130)
    expect(milliseconds).toBeLessThan(15_000)
    expect(program.stdout).not.toMatch(/\u001b/)

    // Uses the name in the file, although the name in the cluster differs.
    await logs(['silent_one'])
      .read()
      .until(/^silent-one-\w+ +\| nobody asked$/)
  })

  longTest('logs continues over restarts without a lost or repeated line', async () => {
    const script =
      'id=$(cat /proc/sys/kernel/random/uuid); for i in 1 2 3 4 5; do echo run $id $i; done; sleep 2; echo end; exit 3'
    await kubectl('run', 'crash', '--image=busybox:1.36', '--', 'sh', '-c', script)
    const program = logs(['crash', '--all']).read()
    await program.until(/ \| end$/, 100, 2)
    await eventually('its end is told', async () => / ended with exit code 3$/m.test(program.stderr) || undefined)
    await program.interrupt()
    const texts = program.lines.map(line => line.slice(line.indexOf('|') + 2))
    const runs = `${texts.join('\n')}\n`.split('end\n').slice(0, 2)
    const expected = runs.map(lines => {
      const id = /^run (\S+)/.exec(lines)?.[1]
      return [1, 2, 3, 4, 5].map(number => `run ${id} ${number}\n`).join('')
    })
    expect(runs).toEqual(expected)
    expect(new Set(runs).size).toBe(2)
    await kubectl('delete', 'pod', 'crash', '--grace-period=0', '--force')
  })

  test('logs continues cut connections at the last line', async () => {
    const { port, hostname } = new URL(await kubectl('config', 'view', '-o', 'jsonpath={.clusters[0].cluster.server}'))
    const proxy = await TcpProxy.start(hostname, Number(port))
    const file = writeKubeconfig(({ clusters }) => {
      clusters[0]!.cluster.server = `https://127.0.0.1:${proxy.port}`
      clusters[0]!.cluster['tls-server-name'] = hostname
    })
    const program = logs(['counter', '--tail', '1'], { KUBECONFIG: file }).read()
    const times = TAKES_ALL ? 5 : 1
    for (let cuts = 1; cuts <= times; cuts++) {
      await program.until(/count/, 40, cuts * 20)
      proxy.cut()
    }
    await program.until(/count/, 40, times * 20 + 50)
    await program.interrupt()
    proxy.close()
    const numbers = program.lines.map(line => Number(/count (\d+)$/.exec(line)?.[1]))
    expect(numbers).toEqual(numbers.map((_, index) => numbers[0]! + index))
  })

  test('logs --no-follow shows the same lines as kubectl and ends', async () => {
    const of = async (...argv: string[]) => {
      const { status, stdout, stderr } = await run(
        ['logs', 'counter', '--no-follow', '--namespace', namespace, ...argv],
        {
          cwd: folder,
          env,
        },
      )
      expect(status, stderr).toBe(0)
      return stdout.split('\n').slice(0, -1)
    }
    const pod = (await kubectl('get', 'pods', '-l', 'dev.platform/service=counter', '-o', 'name')).trim()
    expect(await of('--tail', '7')).toHaveLength(7)
    const first = (await kubectl('logs', pod, '--timestamps')).split('\n').slice(0, 30)
    const ours = await of('--tail', 'all', '--timestamps')
    expect(ours.slice(0, 30).map(line => line.replace(/^counter-\w+ \| /, ''))).toEqual(first)
    const start = Date.now()
    const recent = await of('--tail', 'all', '--timestamps', '--since', '5s')
    const end = Date.now()
    const times = (lines: readonly string[]) => lines.map(line => Date.parse(/\d{4}-\S+Z/.exec(line)?.[0] ?? ''))
    expect(times(recent).filter(time => !(time >= start - 5000))).toEqual([])
    const all = times((await kubectl('logs', pod, '--timestamps')).split('\n').slice(0, -1))
    expect(times(recent)).toEqual(expect.arrayContaining(all.filter(time => time > end - 5000 && time < start)))
    expect(recent.length).toBeGreaterThan(0)
  })

  longTest('logs of a Job ends with the Job', async () => {
    const program = logs(['migrate']).read()
    expect(await program.status).toBe(0)
    expect(program.lines.map(line => line.replace(/^migrate-\w+ \| /, ''))).toEqual(['migrating', 'migrated'])
  })

  longTest('logs --all has bounded memory and ends at once, even with a flood of lines and a slow reader', async () => {
    const script = 'yes "a program gone wild, whose lines have a length as many programs print"'
    await kubectl('run', 'wild', '--image=busybox:1.36', '--restart=Never', '--', 'sh', '-c', script)
    await kubectl('wait', '--for=condition=Ready', 'pod/wild', '--timeout=60s')
    const slow = logs(['wild', '--all'])
    const output = slow.process.stdout!
    // Reads two mebibytes, and then nothing more.
    await new Promise<void>(resolve => {
      let read = 0
      output.on('data', (part: Buffer) => {
        read += part.length
        if (read < 2 << 20) return
        output.pause()
        resolve()
      })
    })
    const before = slow.memory()
    await new Promise(resolve => setTimeout(resolve, 5000))
    expect(slow.memory() - before).toBeLessThan(30)
    expect(slow.memory()).toBeLessThan(200)
    const { status, milliseconds } = await slow.interrupt()
    expect(status).toBe(130)
    expect(milliseconds).toBeLessThan(15_000)

    // Closes the output as `| head -n 1` does.
    const head = logs(['wild', '--all'])
    head.process.stdout!.once('data', () => head.process.stdout!.destroy())
    expect(await head.status).toBe(0)
    expect(head.stderr).toBe('')
    await kubectl('delete', 'pod', 'wild', '--grace-period=0', '--force')
  })

  test('logs without permission ends with one error', async () => {
    const KUBECONFIG = writeKubeconfig(({ users }) => {
      users[0]!.user.as = 'somebody'
    })
    const { status, stdout, stderr } = await run(['logs', '--namespace', namespace], {
      cwd: folder,
      env: { KUBECONFIG },
    })
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr.match(/error: .*/g)).toEqual([
      expect.stringMatching(/^error: pods is forbidden: User "somebody" cannot list resource "pods"/),
    ])
  })

  test('logs of an unknown service ends with a suggestion', async () => {
    const { status, stderr } = await run(['logs', 'tikcer', '--namespace', namespace], { cwd: folder, env })
    expect(status).toBe(1)
    expect(stderr).toContain(
      `error: no service of talk in ${namespace} matches \`tikcer\`\n  = help: did you mean \`ticker\`?\n`,
    )
  })
})
