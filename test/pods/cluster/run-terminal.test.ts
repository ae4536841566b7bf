import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { eventually, findCluster } from '../../support/cluster/cluster.ts'
import { withProject } from '../../support/cluster/project.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

const PROGRAM = join(root, 'bin/devctl.cjs')
/** Seconds for the start of a Pod, or for an answer of the program in it. */
const SECONDS = 60

const compose = `services:
  web: {image: "busybox:1.37", command: [httpd, -f, -p, "8080"], expose: ["8080"], stop_grace_period: 1s}
`

/** A program with a terminal of its own. */
class AtTerminal {
  readonly #child: ChildProcessWithoutNullStreams
  /** Output so far. */
  screen = ''

  constructor(words: readonly string[], cwd: string) {
    // `script` gives the program a terminal, and passes on its exit status.
    const command = `stty rows 31 cols 101; exec ${[process.execPath, PROGRAM, ...words].map(quoted).join(' ')}`
    this.#child = spawn('script', ['-qfec', command, '/dev/null'], { cwd, env: { ...process.env, TERM: 'xterm' } })
    this.#child.stdout.setEncoding('utf8').on('data', text => {
      this.screen += text
    })
  }

  type(keys: string): void {
    this.#child.stdin.write(keys)
  }

  async shows(pattern: RegExp): Promise<void> {
    const options = { seconds: SECONDS, explain: async () => JSON.stringify(this.screen) }
    await eventually(`the screen shows ${pattern}`, async () => pattern.test(this.screen) || undefined, options)
  }

  async status(): Promise<number> {
    if (this.#child.exitCode === null) await once(this.#child, 'close', { signal: AbortSignal.timeout(SECONDS * 1000) })
    return this.#child.exitCode!
  }
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`

describe.skipIf(cluster === undefined)('devctl run at a terminal', () => {
  afterAll(() => cluster?.close())

  test('gives the command a terminal of the same size, keys, the interrupt key, and its exit status', () =>
    withProject(cluster!, async ({ compose: write, devctl, kubectl, name, directory }) => {
      write(compose)
      expect((await devctl('deploy', '--wait')).status).toBe(0)
      const start = (...words: readonly string[]) =>
        new AtTerminal(['run', '--name', name, '--namespace', name, '--rm', 'web', '--', ...words], directory)

      const shell = start('sh')
      // The prompt of a shell that was there before the connection is lost.
      await shell.shows(/connected to pod\/web-run-\S+: press Enter if no prompt appears\r+\n|# $/)
      shell.type('\r')
      await shell.shows(/# $/)
      shell.type('stty size; test -t 0 && test -t 1 && echo "a $((40 + 2)) terminal"\r')
      await shell.shows(/31 101\r+\n/)
      await shell.shows(/a 42 terminal\r+\n/)
      // The interrupt key ends the command in the shell, and not the shell or devctl.
      shell.type('sleep 300\r')
      await shell.shows(/sleep 300\r+\n/)
      shell.type('\x03')
      await shell.shows(/sleep 300\r+\n(.|\s)*# $/)
      shell.type('exit 7\r')
      expect(await shell.status(), shell.screen).toBe(7)

      // The first process of a container gets only the signals that it handles.
      const sleep = start('sh', '-c', 'trap "exit 130" INT; echo begun; while :; do sleep 1; done')
      await sleep.shows(/begun/)
      sleep.type('\x03')
      expect(await sleep.status(), sleep.screen).toBe(130)

      const jobs = () => kubectl('get', 'jobs', '--output=name')
      await expect.poll(jobs, { timeout: 30_000 }).toBe('')
    }))
})
