import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../cases.ts'
import { eventually } from './cluster.ts'

/** devctl as a process of its own, for what only a process has: signals, pipes, memory. */
export class Program {
  stdout = ''
  stderr = ''
  readonly process: ChildProcess
  readonly status: Promise<number | null>

  constructor(argv: readonly string[], { cwd, env = {} }: { cwd: string; env?: Readonly<Record<string, string>> }) {
    this.process = spawn(process.execPath, [join(root, 'bin/devctl.cjs'), ...argv], {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
    })
    this.status = new Promise(resolve => this.process.on('close', resolve))
  }

  /** Gathers what it prints, as it comes. */
  read(): this {
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
    })
    return this
  }

  get lines(): readonly string[] {
    return this.stdout.split('\n').slice(0, -1)
  }

  /** Waits for a line of its output, or for as many as are asked for. */
  until(line: RegExp, seconds = 180, count = 1): Promise<readonly string[]> {
    return eventually(
      `${count} × ${line}`,
      async () => {
        const found = this.lines.filter(one => line.test(one))
        return found.length >= count ? found : undefined
      },
      { explain: async () => `${this.stdout.slice(-2000)}\n${this.stderr.slice(-2000)}`, seconds, pause: 100 },
    )
  }

  /** MiB that it has in memory. */
  memory(): number {
    const kib = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${this.process.pid}/status`, 'utf8'))?.[1]
    return Number(kib) / 1024
  }

  /** Presses Ctrl-C, or sends another signal, and gives the exit status and how many milliseconds it took to end. */
  async interrupt(
    signal: NodeJS.Signals = 'SIGINT',
  ): Promise<{ readonly status: number | null; readonly milliseconds: number }> {
    const began = Date.now()
    this.process.kill(signal)
    const status = await new Promise<number | null>(resolve => this.process.on('exit', resolve))
    return { status, milliseconds: Date.now() - began }
  }
}
