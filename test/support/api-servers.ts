import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { TestProject } from 'vitest/node'
import { isRunning } from '../../adapters/git/process-identity.ts'
import { root } from './cases.ts'
import { lacks } from './lacks.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The kubeconfig files of the API servers, one for each worker; with a single one, all workers share it. */
    readonly kubeconfigs: readonly string[]
  }
}

/**
 * The number of ports that belong together, and how many times they fit below those that the system gives to clients.
 */
const BLOCK = 32
const BLOCKS = 300

/** The name of the folder of a run begins with this and its process. */
const HOME = 'devctl-api-servers-'

/** The program that starts test clusters. It is part of the shared folder beside the checkout, not of the project. */
const program = join(root, '../shared/cluster/cluster')

/**
 * Starts an API server for each worker of a project, and stops them at the end: `cluster up --api-only` needs no root
 * and takes 10 s. API_KUBECONFIG names another cluster, which one worker then uses. The tests are skipped if there is
 * neither.
 */
export default async function startApiServers({ config, provide }: TestProject): Promise<(() => Promise<void>) | void> {
  const given = process.env['API_KUBECONFIG']
  if (given || lacks('the test cluster', !existsSync(program))) {
    if (!given)
      console.warn('there is no test cluster beside the checkout: the tests that need an API server are skipped')
    provide('kubeconfigs', given ? [given] : [])
    return
  }
  await stopLeft()
  const home = mkdtempSync(join(tmpdir(), `${HOME}${process.pid}-`))
  const count = config.maxWorkers ?? 1
  const first = await freePorts(4 * count)
  // The client port of etcd is followed by its peer port.
  const servers = Array.from({ length: count }, (_, index) => ({
    ...process.env,
    TESTCLUSTER_HOME: join(home, String(index)),
    TESTCLUSTER_ETCD_PORT: String(first + 4 * index),
    TESTCLUSTER_API_PORT: String(first + 4 * index + 2),
  }))
  try {
    await Promise.all(servers.map(env => cluster(env, 'up', '--api-only')))
  } catch (error) {
    await stop(home)
    throw error
  }
  provide(
    'kubeconfigs',
    servers.map(env => join(env.TESTCLUSTER_HOME, 'admin.kubeconfig')),
  )
  return () => stop(home)
}

const cluster = (env: NodeJS.ProcessEnv, ...words: readonly string[]) =>
  promisify(execFile)(program, words, { env, timeout: 180_000 })

/** Stops the API servers of a run, and removes its folder. */
async function stop(home: string): Promise<void> {
  const homes = readdirSync(home).map(name => join(home, name))
  await Promise.allSettled(
    homes.map(TESTCLUSTER_HOME => cluster({ ...process.env, TESTCLUSTER_HOME }, 'down', '--purge')),
  )
  rmSync(home, { recursive: true, force: true })
}

/** Stops what runs have left that were killed. */
async function stopLeft(): Promise<void> {
  const left = readdirSync(tmpdir()).filter(name => name.startsWith(HOME) && !isRunning(Number(name.split('-').at(-2))))
  for (const name of left) await stop(join(tmpdir(), name))
}

/**
 * Returns the first of so many consecutive ports that are free. Two runs that begin at the same time begin to search
 * far apart.
 */
async function freePorts(count: number): Promise<number> {
  for (let tried = 0; tried < BLOCKS; tried++) {
    const first = 20_000 + BLOCK * ((process.pid + tried) % BLOCKS)
    const servers = Array.from({ length: count }, (_, index) => createServer().listen(first + index))
    const results = await Promise.allSettled(servers.map(server => once(server, 'listening')))
    for (const server of servers) server.close()
    if (results.every(({ status }) => status === 'fulfilled')) return first
  }
  throw new Error('there are no free ports between 20000 and 30000')
}
