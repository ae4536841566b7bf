import { get, isMap, type MapTree, type Tree } from '../../text/tree.ts'
import type { WatchAction, WatchExec, WatchRule } from '../project.ts'
import type { ReadContext } from './context.ts'
import { readEnvironment } from './environment.ts'
import { flag, items, list, nonEmptyText, text, words } from './tree-values.ts'

/** Reads the rules of `develop.watch`, in the order of the file. Rules without a path were reported. */
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
        // The shape has checked it.
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
    // Without a value, a variable is unset there; `render` has no use for it, and says nothing.
    environment: readEnvironment(tree, context, () => true),
  }
}
