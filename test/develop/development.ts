import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cluster } from '../cluster/cluster.ts'
import { Program } from '../cluster/program.ts'

/** A project on this machine with a namespace of its own, and the programs that work on it. */
export interface DevelopmentPlace {
  readonly folder: string
  /** devctl's own folder. */
  readonly home: string
  readonly namespace: string
  /** Starts the built program, and gathers what it prints. */
  devctl(...words: readonly string[]): Program
  /** Kills what runs, and removes all of it; the end of the namespace is not waited for. */
  close(): Promise<void>
}

/** Makes the namespace and an empty folder; both have the name of the test. The programs also get the variables of `more`. */
export async function openDevelopment(
  cluster: Cluster,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<DevelopmentPlace> {
  const namespace = `${name}-${process.pid}`
  const folder = mkdtempSync(join(tmpdir(), `devctl-${name}-`))
  const home = mkdtempSync(join(tmpdir(), 'devctl-up-home-'))
  const env = { KUBECONFIG: process.env.KUBECONFIG!, DEVCTL_HOME: home, DEVCTL_NAMESPACE: namespace, ...more }
  const programs: Program[] = []
  await cluster.createNamespace(namespace)
  return {
    folder,
    home,
    namespace,
    devctl(...words) {
      const program = new Program(words, { cwd: folder, env }).read()
      programs.push(program)
      return program
    },
    async close() {
      for (const one of programs) one.process.kill('SIGKILL')
      for (const one of [folder, home]) rmSync(one, { recursive: true, force: true })
      await cluster.deleteNamespace(namespace)
      cluster.close()
    },
  }
}
