import { HookComments } from '../hooks/hook-comments.ts'
import { HookKeeper } from '../hooks/hook-keeper.ts'
import { standingTask } from '../login/standings.ts'
import type { PlatformParts } from '../make-parts.ts'
import { expiredTask } from '../namespaces/expired.ts'
import { longerNamesTask } from '../namespaces/longer-names-task.ts'
import { surroundingsTask } from '../namespaces/surroundings-task.ts'
import { pullSecretsTask } from '../registry/pull-secrets.ts'
import { RunKeeper } from '../runs/run-keeper.ts'
import { idleTask } from '../sleep/idle.ts'
import type { PlatformWorld } from '../world.ts'
import { dependenciesTask } from './dependencies.ts'
import type { LeaderTask } from './leader.ts'
import { usageTask } from './usage.ts'

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
