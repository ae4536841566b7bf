import type { ForgeKind } from '../../compiler/values/repository-names.ts'
import type { MessageInput } from '../../operations/gitops/message.ts'
import type { FolderChange } from '../../operations/gitops/publication.ts'
import type { ObjectDiff } from '../../operations/objects/diff.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { CompiledForRepository } from './compile-for-repository.ts'
import type { Destination } from './destination.ts'
import type { Origin } from './facts.ts'

/** What is known when a publish has ended. */
export interface Published {
  readonly destination: Destination
  readonly project: OpenProject
  readonly compiled: CompiledForRepository
  readonly origin: Origin
  /** Of the commit, where one was made. */
  readonly message: MessageInput | undefined
  readonly describe: (changes: readonly FolderChange[]) => Promise<Described>
  /** `--forge`. */
  readonly forge: ForgeKind | undefined
  readonly signal: AbortSignal
}

/** What becomes of the objects; of the files alone, where those in the repository cannot be read. */
export interface Described {
  readonly changes: readonly ObjectDiff[]
  readonly files?: string
}
