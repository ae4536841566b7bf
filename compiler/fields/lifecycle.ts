import type { Hook, Service } from '../project/project.ts'
import { isMap, type MapTree } from '../syntax/tree.ts'
import type { ReadContext } from './context.ts'
import { readDuration } from './durations.ts'
import { readEnvironment } from './environment.ts'
import { filledText, flag, items, words } from './tree-values.ts'

type LifecycleFields = Pick<Service, 'stopGracePeriod' | 'stopSignal' | 'preStart' | 'postStart' | 'preStop'>

/** Starting and stopping: `stop_grace_period`, `stop_signal` and the hooks. */
export function readLifecycle(service: MapTree, context: ReadContext): LifecycleFields {
  return {
    stopGracePeriod: readDuration(service, 'stop_grace_period'),
    stopSignal: filledText(service, 'stop_signal'),
    preStart: readHooks(service, 'pre_start', context),
    postStart: readHooks(service, 'post_start', context),
    preStop: readHooks(service, 'pre_stop', context),
  }
}

function readHooks(service: MapTree, key: string, context: ReadContext): readonly Hook[] {
  return items(service, key)
    .filter(isMap)
    .map(hook => ({
      span: hook.span,
      command: words(hook, 'command'),
      user: filledText(hook, 'user'),
      privileged: flag(hook, 'privileged'),
      workingDir: filledText(hook, 'working_dir'),
      environment: readEnvironment(hook, context),
      image: filledText(hook, 'image'),
      entrypoint: words(hook, 'entrypoint'),
      perReplica: flag(hook, 'per_replica'),
    }))
}
