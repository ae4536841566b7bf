import type { DevelopContext } from '../develop/context.ts'
import type * as operations from '../project/session.ts'
import type { OperationEvent } from './events.ts'

/** The surroundings of an operation that needs no cluster, for programs: `on` gets the events of all operations. */
export type LocalWorld = operations.LocalContext<OperationEvent>

/** The surroundings of an operation, for programs: `on` gets the events of all operations, `ask` their questions. */
export type World = operations.OperationContext<OperationEvent> & Pick<DevelopContext, 'ask'>
