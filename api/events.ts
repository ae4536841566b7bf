import type { DevelopEvent } from '../develop/events.ts'
import type { PublishEvent } from '../gitops/publish/events.ts'
import type { SecretEvent } from '../gitops/secrets/create.ts'
import type { DeployEvent } from '../operations/deploy/events.ts'
import type { DestroyEvent } from '../operations/destroy/events.ts'
import type { LogEvent } from '../operations/logs/events.ts'
import type { CommonEvent } from '../project/events.ts'

/** The events of all operations. */
export type OperationEvent =
  | CommonEvent
  | DeployEvent
  | DestroyEvent
  | DevelopEvent
  | LogEvent
  | PublishEvent
  | SecretEvent
