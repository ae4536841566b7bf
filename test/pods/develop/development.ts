import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cluster } from '../../support/cluster/cluster.ts'
import { Program } from '../../support/cluster/program.ts'
import { endAll, type KeptLaptop, laptops, type Started } from './kept-laptops.ts'

/**
 * Project in a folder, with the programs that work on it. Programs that a failed test has started are ended after it.
 */
export interface Laptop {
  readonly folder: string
  /** devctl's own folder. */
  readonly home: string
  readonly namespace: string
  /** Starts the built program, and collects what it prints. */
  devctl(...words: readonly string[]): Program
  /** Returns the processes of its programs, including those in the background. */
  processes(): readonly number[]
  /** Kills all processes, including those in the background, waits until they have ended, and deletes the folders. */
  clear(): Promise<void>
}

/** Laptop with its own namespace. */
export interface DevelopmentPlace extends Laptop {
  /** Kills all processes, and deletes the folders and the namespace, without waiting for the end of the namespace. */
  close(): Promise<void>
}

/**
 * Creates a namespace and an empty folder, both named after the test. The programs also get the variables of `more`.
 */
export async function openDevelopment(
  cluster: Cluster,
  name: string,
  more: Readonly<Record<string, string>> = {},
): Promise<DevelopmentPlace> {
  const namespace = `${name}-${process.pid}`
  const laptop = openLaptop(namespace, name, more)
  await cluster.createNamespace(namespace)
  return {
    ...laptop,
    async close() {
      await laptop.clear()
      await cluster.deleteNamespace(namespace)
      cluster.close()
    },
  }
}

/** Returns a laptop with an empty folder for work in an existing namespace. */
export function openLaptop(namespace: string, name: string, more: Readonly<Record<string, string>> = {}): Laptop {
  const folder = mkdtempSync(join(tmpdir(), `devctl-${name}-`))
  const home = mkdtempSync(join(tmpdir(), 'devctl-up-home-'))
  // A shell sets `_` to the program that it has started: below `nohup`, devctl would ignore SIGHUP.
  const shell = { _: process.execPath }
  const env = { KUBECONFIG: process.env.KUBECONFIG!, DEVCTL_HOME: home, DEVCTL_NAMESPACE: namespace, ...shell, ...more }
  const started: Started[] = []
  const kept: KeptLaptop = {
    folder,
    home,
    started,
    processes: () => programsOf(env),
    start(words) {
      const program = new Program(words, { cwd: folder, env }).read()
      started.push({ words, program })
      return program
    },
  }
  laptops.add(kept)
  return {
    folder,
    home,
    namespace,
    devctl: (...words) => kept.start(words),
    processes: kept.processes,
    async clear() {
      laptops.delete(kept)
      await endAll(kept)
      for (const one of [folder, home]) rmSync(one, { recursive: true, force: true })
    },
  }
}

/**
 * Returns the processes with these environment variables, such as those that `up --detach` has left. Only Linux reports
 * them.
 */
function programsOf(variables: Readonly<Record<string, string>>): readonly number[] {
  if (process.platform !== 'linux') return []
  const wanted = [`DEVCTL_HOME=${variables.DEVCTL_HOME}`, `DEVCTL_NAMESPACE=${variables.DEVCTL_NAMESPACE}`]
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      try {
        const words = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
        return wanted.every(word => words.includes(word))
      } catch {
        // The process has ended, or belongs to another user.
        return false
      }
    })
}

/** Returns variables with which Node.js takes this machine for that of another user. */
export function asPerson(name: string, folder: string): Readonly<Record<string, string>> {
  const file = join(folder, `${name}.cjs`)
  const text = `const os = require('node:os'); const info = os.userInfo()
os.hostname = () => 'laptop-of-${name}'; os.userInfo = () => ({ ...info, username: '${name}' })
require('node:module').syncBuiltinESMExports()
`
  writeFileSync(file, text)
  return { NODE_OPTIONS: `--require ${file}` }
}
