import { posix } from 'node:path'
import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import { isMap, type MapTree } from '../../../text/tree.ts'
import { parseFileMode } from '../../../values/numbers/file-mode.ts'
import type { FileMount } from '../../project.ts'
import type { ReadContext } from '../context.ts'
import { items, nonEmptyText, scalar } from '../tree-values.ts'
import { cleanTarget } from './mount-targets.ts'

const badMode = diagnostic({
  code: 'file-mounts/bad-mode',
  severity: 'error',
  explain:
    'The mode of a mounted file in Kubernetes is an octal number from `0000` to `0777`: read (4), write (2) and execute (1) permission for owner, group and others. Kubernetes does not support the set-user-ID, set-group-ID and sticky bits on mounted files.',
  text: (p: { mode: string }) => ({
    message: `the mode \`${p.mode}\` is above \`0777\``,
    hint: 'write a zero and three octal digits, for example `0440`',
  }),
})

/** Reads `configs` or `secrets` of a service, each with its path in the container. */
export function readFileMounts(service: MapTree, context: ReadContext, key: string): readonly FileMount[] {
  const folder = key === 'secrets' ? '/run/secrets/' : '/'
  return items(service, key)
    .filter(isMap)
    .flatMap(item => readMount(item, folder, context) ?? [])
}

function readMount(tree: MapTree, folder: string, context: ReadContext): FileMount | undefined {
  const source = nonEmptyText(tree, 'source')
  if (!source) return undefined
  const written = nonEmptyText(tree, 'target') ?? source
  const target = cleanTarget({ value: posix.resolve(folder, written.value), span: written.span }, context)
  if (!target) return undefined
  return {
    span: source.span,
    source: source.value,
    target: target.value,
    mode: readMode(tree, context),
    uid: nonEmptyText(tree, 'uid')?.value,
    gid: nonEmptyText(tree, 'gid')?.value,
  }
}

function readMode(tree: MapTree, { reporter }: ReadContext): number | undefined {
  const found = scalar(tree, 'mode')
  if (!found) return undefined
  // The loader converts modes to octal text.
  const octal = String(found.value)
  const mode = parseFileMode(octal)
  if (!mode.ok) return undefined
  if (mode.value > 0o777) {
    reporter.report(badMode, found.span, { mode: octal })
    return undefined
  }
  return mode.value
}
