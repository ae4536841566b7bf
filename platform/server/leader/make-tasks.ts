import type { ServerContext } from '../context.ts'
import type { Services } from '../create-services.ts'
import { HookComments } from '../hooks/hook-comments.ts'
import { WebhookController } from '../hooks/webhook-controller.ts'
import { accountCheckTask } from '../login/account-checks.ts'
import { expiredTask } from '../namespaces/expired.ts'
import { longerNamesTask } from '../namespaces/longer-names-task.ts'
import { surroundingsTask } from '../namespaces/reconcile-namespace-defaults.ts'
import { pullSecretsTask } from '../registry/pull-secrets.ts'
import { RunController } from '../runs/run-controller.ts'
import { idleTask } from '../sleep/idle.ts'
import { dependenciesTask } from './dependencies.ts'
import type { LeaderTask } from './leader.ts'
import { usageTask } from './usage.ts'

/** Returns the tasks that the leader runs. The type of each task names the services that it uses. */
export const makeTasks = (world: ServerContext, parts: Services): readonly LeaderTask[] => [
  expiredTask(world),
  accountCheckTask(world, parts),
  idleTask(world, parts),
  surroundingsTask(world),
  longerNamesTask(world, parts.longerNames),
  pullSecretsTask(world, parts.pullSecrets, parts.users),
  usageTask(parts.usage),
  dependenciesTask(world, parts.hooks),
  new RunController(world, parts),
  parts.deletions,
  new WebhookController(world, parts),
  new HookComments(world, parts),
]
