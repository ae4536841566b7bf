import type { DevelopContext } from '../develop/context.ts'
import type * as operations from '../project/session.ts'
import type { OperationEvent } from './events.ts'

/**
 * Environment of an operation that needs no cluster, for other programs; `on` receives the events of all operations.
 */
export type LocalWorld = operations.LocalContext<OperationEvent>

/**
 * Environment of an operation, for other programs. `on` receives the events of all operations, and `ask` answers the
 * questions of an operation.
 */
export type World = operations.OperationContext<OperationEvent> & Pick<DevelopContext, 'ask'>
