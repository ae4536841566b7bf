import { type Entry, isMap, type MapTree, type Tree, withEntry } from '../../text/tree.ts'
import type { Hook } from '../project.ts'
import type { ReadContext } from './context.ts'
import { readEnvironment } from './environment.ts'
import { entries, flag, items, map, nonEmptyText, words } from './tree-values.ts'

/** Reads the hooks of `pre_start`, `post_start` or `pre_stop`. */
export function readHooks(service: MapTree, context: ReadContext, key: string): readonly Hook[] {
  return items(service, key)
    .filter(isMap)
    .map(hook => ({
      span: hook.span,
      command: words(hook, 'command'),
      user: nonEmptyText(hook, 'user'),
      privileged: flag(hook, 'privileged'),
      workingDir: nonEmptyText(hook, 'working_dir'),
      environment: readEnvironment(withoutInherited(hook, service, context.isFromSecret), context),
      image: nonEmptyText(hook, 'image'),
      entrypoint: words(hook, 'entrypoint'),
      perReplica: flag(hook, 'per_replica'),
    }))
}

/**
 * Removes variables that a pre_start hook inherits from its service. The hook's container gets them anyway, and some of
 * them have values from Secrets. Keeps a variable from an env file if its value uses the hook's own variables.
 */
function withoutInherited(hook: MapTree, service: MapTree, isFromSecret: ReadContext['isFromSecret']): MapTree {
  const environment = map(hook, 'environment')
  const inherited = entries(service, 'environment')
  if (!environment || inherited.size === 0) return hook
  const isOwn = ([name, { key, value }]: readonly [string, Entry]) => {
    const from = inherited.get(name)
    if (from?.key.file !== key.file || from.key.start !== key.start) return true
    return !isFromSecret(name) && textOf(value) !== textOf(from.value)
  }
  return withEntry(hook, 'environment', { ...environment, entries: new Map([...environment.entries].filter(isOwn)) })
}

const textOf = (tree: Tree): string | undefined => (tree.kind === 'scalar' ? String(tree.value) : undefined)
