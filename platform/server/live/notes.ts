import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { lastDeploy, readChangeLists } from '../../../environment/record/change-lists.ts'
import { type DeployedService, readApplication } from '../../../environment/record/deployed-application.ts'
import { type EnvironmentRecord, type Source, toRecord } from '../../../environment/record/record.ts'
import type { ShownChanges, ShownDeploy } from '../../api/environments.ts'
import type { Room, SceneEnvironment } from './object-cache.ts'
import { sizeOf } from './trim-object.ts'

/** The record of an environment's last deploy, without the history. Invalid parts of the record are omitted. */
export interface DeployRecordView {
  /** False if the environment has no record. */
  readonly isRecorded: boolean
  readonly deployed?: ShownDeploy | undefined
  readonly source?: Source | undefined
  readonly services: readonly DeployedService[]
}

const NOTHING: DeployRecordView = { isRecorded: false, services: [] }

interface Known {
  readonly object: KubeObject
  readonly noted: DeployRecordView
  readonly size: number
}

/**
 * The deploy records of a namespace. Because a record can be large, the parsed record is cached if it fits into the
 * budget.
 */
export class Notes {
  readonly #room: Room
  readonly #known = new Map<string, Known>()

  constructor(room: Room) {
    this.#room = room
  }

  of({ name, record: object }: SceneEnvironment): DeployRecordView {
    const known = this.#known.get(name)
    if (known && known.object === object) return known.noted
    this.forget(name)
    if (!object) return NOTHING
    const noted = toNoted(toRecord(object))
    const size = sizeOf(noted)
    if (this.#room.take(size)) this.#known.set(name, { object, noted, size })
    return noted
  }

  forget(name: string): void {
    const known = this.#known.get(name)
    if (!known) return
    this.#known.delete(name)
    this.#room.give(known.size)
  }

  forgetAll(): void {
    for (const name of [...this.#known.keys()]) this.forget(name)
  }
}

/**
 * Returns the last deploys of an environment, the newest first. The result is decompressed for each call and not
 * cached, because a record has at most 128 KiB, but its history can have up to 1 MiB.
 */
export const historyOf = ({ record }: SceneEnvironment): ShownChanges[] =>
  record === undefined
    ? []
    : readChangeLists(toRecord(record).history).map(({ changes, unapplied, ...list }) => ({
        ...list,
        ...(unapplied && { unapplied: [...unapplied] }),
        changes: changes.map(one => ({ ...one, values: [...one.values] })),
      }))

const toNoted = ({ application, history, deployed, source }: EnvironmentRecord): DeployRecordView => ({
  isRecorded: true,
  // Older versions of devctl record the user and time of a deploy, but no change lists.
  deployed: lastDeploy(history) ?? deployed,
  source,
  services: readApplication(application)?.services ?? [],
})
