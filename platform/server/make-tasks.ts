import { dependenciesTask } from './dependencies.ts'
import { expiredTask } from './expired.ts'
import { HookComments } from './hook-comments.ts'
import { HookKeeper } from './hook-keeper.ts'
import { idleTask } from './idle.ts'
import type { LeaderTask } from './leader.ts'
import { longerNamesTask } from './longer-names-task.ts'
import type { PlatformParts } from './make-parts.ts'
import { pullSecretsTask } from './registry/pull-secrets.ts'
import { RunKeeper } from './run-keeper.ts'
import { standingTask } from './standings.ts'
import { surroundingsTask } from './surroundings-task.ts'
import { usageTask } from './usage.ts'
import type { PlatformWorld } from './world.ts'

/** The tasks that the leader runs. */
export const makeTasks = (world: PlatformWorld, parts: PlatformParts): readonly LeaderTask[] => [
  expiredTask(world),
  standingTask(world, parts),
  idleTask(world, parts),
  surroundingsTask(world),
  longerNamesTask(world, parts.longerNames),
  pullSecretsTask(world, parts.pullSecrets, parts.users),
  usageTask(parts.usage),
  dependenciesTask(world, parts),
  new RunKeeper(world, parts),
  parts.deletions,
  new HookKeeper(world, parts),
  new HookComments(world, parts),
]
