import { get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import type { WatchAction, WatchExec, WatchRule } from '../project.ts'
import type { ReadContext } from './context.ts'
import { readEnvironment } from './environment.ts'
import { flag, items, list, nonEmptyText, text, words } from './tree-values.ts'

/**
 * Reads the rules of `develop.watch`, in the order of the file. Skips rules without a path, which have already been
 * reported.
 */
export function readWatch(service: MapTree, context: ReadContext, key: string): readonly WatchRule[] {
  return items(service, key, 'watch').flatMap((rule): readonly WatchRule[] => {
    const path = nonEmptyText(rule, 'path')
    const action = text(rule, 'action')
    if (!path || !action) return []
    const target = nonEmptyText(rule, 'target')
    const exec = readExec(get(rule, 'exec'), context)
    return [
      {
        span: rule.span,
        path,
        // The schema has already checked the action.
        action: { value: action.value as WatchAction, span: action.span },
        ...(target && { target }),
        ignore: list(rule, 'ignore'),
        include: list(rule, 'include'),
        initialSync: flag(rule, 'initial_sync')?.value ?? false,
        ...(exec && { exec }),
      },
    ]
  })
}

function readExec(tree: Tree | undefined, context: ReadContext): WatchExec | undefined {
  const command = words(tree, 'command')
  if (!isMap(tree) || !command || command.words.length === 0) return undefined
  const user = nonEmptyText(tree, 'user')
  const workingDir = nonEmptyText(tree, 'working_dir')
  return {
    span: tree.span,
    command,
    ...(user && { user }),
    privileged: flag(tree, 'privileged')?.value ?? false,
    ...(workingDir && { workingDir }),
    // A variable without a value is allowed, because `up` then leaves it unset and `render` does not use it.
    environment: readEnvironment(tree, context, () => true),
  }
}
