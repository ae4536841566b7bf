import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { type DevelopmentPlace, openDevelopment } from '../../pods/develop/development.ts'
import { killContainer } from '../../pods/develop/kill-container.ts'
import {
  differences,
  filesHere,
  keptMarks,
  lostOf,
  READER,
  saveHere,
  saverCommand,
  savesOf,
} from '../../pods/develop/saves.ts'
import { withoutServerFields } from '../../pods/develop/taking.ts'
import { TWO_REPLICAS } from '../../pods/develop/two-replicas.ts'
import { write } from '../../support/cli/folder.ts'
import { type Cluster, eventually, findCluster } from '../../support/cluster/cluster.ts'
import type { Program } from '../../support/cluster/program.ts'
import { generator } from '../../support/cluster/random.ts'
import { TAKES_ALL } from '../../support/takes-all.ts'

// Kills `up`, the agent and the Pod at random moments while files are saved on both sides: no save is lost.

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined

/** Number of kills. The default kills each kind once in each lane. */
const RUNS = Number(process.env.KILLED_RUNS ?? 4)
const SEED = Number(process.env.KILLED_SEED ?? 20_261_123)
/** Number of lanes. They run in parallel because they spend most of their time waiting. */
const LANES = TAKES_ALL ? 2 : 1
/** Milliseconds during which files are saved. */
const SAVING = 2500

/**
 * Kinds of kills. Each Pod has its agent killed once in this order, since the kubelet waits longer before each
 * further start.
 */
const KINDS = ['up', 'agent', 'pod', 'up and down'] as const

/** A development container with its project. */
class Lane {
  readonly #place: DevelopmentPlace
  readonly #cluster: Cluster
  readonly #random: () => number
  #before: unknown
  #up: Program | undefined

  constructor(place: DevelopmentPlace, cluster: Cluster, random: () => number) {
    this.#place = place
    this.#cluster = cluster
    this.#random = random
  }

  get #files(): string {
    return join(this.#place.folder, 'files')
  }

  async begin(): Promise<void> {
    write(this.#place.folder, { ...TWO_REPLICAS, 'files/first.txt': 'first\n' })
    const deploy = this.#place.devctl('deploy')
    expect(await deploy.status, deploy.stderr).toBe(0)
    this.#before = await this.#original()
    await this.#startUp()
  }

  async run(number: number, kind: (typeof KINDS)[number]): Promise<void> {
    if (kind === 'up and down') await this.#killStartAndEnd()
    const container = this.#place.devctl(
      'exec',
      '--',
      ...saverCommand('/app', { side: 'container', run: number, milliseconds: SAVING, isWhole: kind === 'pod' }),
    )
    await container.until(/^\{/, 180)
    const saving = saveHere(this.#files, { side: 'laptop', run: number, milliseconds: SAVING })
    await sleep(this.#random() * SAVING)
    if (kind === 'up') await this.#killUp()
    else if (kind === 'agent')
      await killContainer(this.#cluster, this.#place.namespace, await this.#pod(), 'devctl-agent')
    else if (kind === 'pod') await this.#killPod()
    if (kind === 'up') {
      await sleep(this.#random() * 1000)
      await this.#startUp()
    }
    const laptop = await saving
    // The test is not notified of the end of the container if its Pod is killed.
    await Promise.race([container.status, sleep(SAVING)])
    const there = await eventually(
      'both sides are equal',
      async () => {
        const seen = await this.#filesThere()
        return seen && differences(filesHere(this.#files), seen).length === 0 ? seen : undefined
      },
      {
        explain: async () => {
          const seen = await this.#filesThere()
          return [...(seen ? differences(filesHere(this.#files), seen) : ['no files']), this.#log()].join('\n')
        },
      },
    )
    const saves = { laptop, container: savesOf(container.stdout) }
    expect(saves.container.length, container.stderr).toBeGreaterThan(0)
    expect(lostOf(there, saves, keptMarks(this.#place.home)), this.#log()).toEqual([])
    expect(Object.keys(there).filter(name => name.includes('.devctl-'))).toEqual([])
    expect(this.#up!.process.exitCode, this.#up!.stderr).toBeNull()
  }

  /** Runs `down`, and checks that the original is unchanged and that nothing of the mirror is left. */
  async end(): Promise<void> {
    const down = this.#place.devctl('down')
    expect(await down.status, down.stderr).toBe(0)
    await this.#up?.status
    expect(await this.#original()).toEqual(this.#before)
    const kinds = 'deployment,secret,lease,pod'
    const left = ['get', kinds, '--selector=dev.platform/development', '--output=name']
    expect(await this.#cluster.kubectl('--namespace', this.#place.namespace, ...left)).toBe('')
  }

  async #killStartAndEnd(): Promise<void> {
    const down = this.#place.devctl('down')
    await sleep(this.#random() * 2500)
    await killed(down)
    await this.end()
    this.#up = this.#place.devctl('up')
    await sleep(this.#random() * 8000)
    await this.#killUp()
    await this.#startUp()
  }

  async #startUp(): Promise<void> {
    this.#up = this.#place.devctl('up')
    await this.#up.until(/^connected$/, 180)
  }

  async #killUp(): Promise<void> {
    await killed(this.#up!)
  }

  async #killPod(): Promise<void> {
    const words = ['delete', 'pod', '--grace-period=0', '--force', '--wait=false', await this.#pod()]
    await this.#cluster.kubectl('--namespace', this.#place.namespace, ...words)
  }

  async #pod(): Promise<string> {
    const words = ['get', 'pod', '--selector=dev.platform/mirror', '--output=jsonpath={.items[0].metadata.name}']
    return this.#cluster.kubectl('--namespace', this.#place.namespace, ...words)
  }

  async #original(): Promise<unknown> {
    const path = `/apis/apps/v1/namespaces/${this.#place.namespace}/deployments/api`
    return withoutServerFields(await this.#cluster.get<KubeObject>(path))
  }

  async #filesThere() {
    const program = this.#place.devctl('exec', '--', 'node', '-e', READER, '/app')
    return (await program.status) === 0 ? JSON.parse(program.stdout) : undefined
  }

  /** Returns the end of the log of the sessions. */
  #log(): string {
    const paths = readdirSync(this.#place.home, { recursive: true, encoding: 'utf8' })
    const path = paths.find(one => one.endsWith('up.log'))
    const lines = path === undefined ? [] : readFileSync(join(this.#place.home, path), 'utf8').split('\n')
    return lines.slice(-40).join('\n')
  }
}

async function killed({ process, status }: Program): Promise<void> {
  process.kill('SIGKILL')
  await status
}

describe.skipIf(cluster === undefined)('kills while files are saved on both sides', () => {
  test.concurrent.each(Array.from({ length: LANES }, (_, lane) => lane))(
    `no save is lost in ${RUNS} kills: lane %d`,
    async number => {
      const place = await openDevelopment(cluster!, `up-killed-${number}`)
      const lane = new Lane(place, cluster!, generator(SEED + number))
      try {
        await lane.begin()
        for (let run = number; run < RUNS; run += LANES) {
          const kind = KINDS[Math.floor(run / LANES) % KINDS.length]!
          await lane.run(run, kind).catch(error => {
            throw new Error(`run ${run}, ${kind}: ${error.message}`, { cause: error })
          })
        }
        await lane.end()
      } finally {
        await place.close()
      }
    },
  )
})
