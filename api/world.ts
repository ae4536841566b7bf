import type { DevelopWorld } from '../develop/world.ts'
import type * as operations from '../project/session.ts'
import type { OperationEvent } from './events.ts'

/** The surroundings of an operation that needs no cluster, for programs: `on` gets the events of all operations. */
export type LocalWorld = operations.LocalWorld<OperationEvent>

/** The surroundings of an operation, for programs: `on` gets the events of all operations, `ask` their questions. */
export type World = operations.World<OperationEvent> & Pick<DevelopWorld, 'ask'>
