import { expiredTask } from './expired.ts'
import type { LeaderTask } from './leader.ts'
import type { PlatformWorld } from './world.ts'

/** What the leader does, besides answering requests. */
export const makeTasks = (world: PlatformWorld): readonly LeaderTask[] => [expiredTask(world)]
