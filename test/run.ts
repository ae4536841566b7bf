import { main } from '../cli/main.ts'
import type { Case } from './cases.ts'

export interface Result {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line in this process, in a folder, with nothing of this machine's environment. */
export async function run(
  argv: readonly string[],
  { cwd, env = {}, stdin = '' }: { cwd: string; env?: Readonly<Record<string, string>>; stdin?: string },
): Promise<Result> {
  const written = { stdout: '', stderr: '' }
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY: false,
    write: (text: string) => {
      written[name] += text
    },
  })
  const status = await main([...argv], {
    stdout: output('stdout'),
    stderr: output('stderr'),
    readStdin: async () => new TextEncoder().encode(stdin),
    env,
    cwd,
  })
  return { status, ...written }
}

/** Runs a case as its options.yml says. */
export function runCase(one: Case): Promise<Result> {
  return run([one.command, ...one.args], { cwd: one.directory, env: one.env, stdin: one.stdin })
}
