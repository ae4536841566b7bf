import { diagnostic } from '../../../diagnostics/diagnostic.ts'
import type { At, Span } from '../../../text/source.ts'
import { spanInside } from '../../../text/span-inside.ts'
import { isMap, type MapTree, type ScalarTree } from '../../../text/tree.ts'
import { parseBytes } from '../../../values/numbers/bytes.ts'
import type { Mount, MountAs, TmpfsEntry } from '../../project.ts'
import type { ReadContext } from '../context.ts'
import { flag, integer, items, map, nonEmptyText, pairs, scalar, scalars, textOf } from '../tree-values.ts'
import { checkSubpath, cleanTarget, reportIncomplete } from './mount-targets.ts'

const badTmpfsSize = diagnostic({
  code: 'tmpfs/bad-size',
  severity: 'error',
  explain:
    'The size of a `tmpfs` is a number of bytes with an optional unit: `size=64m`. The units `k`, `m` and `g` are powers of 1024.',
  text: (p: { size: string; reason: string; hint?: string | undefined }) => ({
    message: `bad tmpfs size \`${p.size}\`: ${p.reason}`,
    hint: p.hint ?? 'write for example `size=64m`',
  }),
})

const badVolumesFrom = diagnostic({
  code: 'volumes-from/bad-form',
  severity: 'error',
  explain: `\`volumes_from\` mounts the volumes of another service: \`SERVICE\`, \`SERVICE:ro\` or \`SERVICE:rw\`.`,
  text: (p: { value: string }) => ({
    message: `\`${p.value}\` in \`volumes_from\` is not \`SERVICE\`, \`SERVICE:ro\` or \`SERVICE:rw\``,
  }),
})

const fromContainer = diagnostic({
  code: 'volumes-from/container',
  severity: 'error',
  explain:
    '`volumes_from: container:NAME` mounts the volumes of a container that Compose does not manage. Kubernetes has no equivalent. Declare a named volume and mount it in both services.',
  text: (p: { container: string }) => ({
    message: `Kubernetes does not support mounting the volumes of the container \`${p.container}\``,
    hint: 'name a service of this project, or mount a named volume',
  }),
})

/** Reads `volumes` of a service, with normalized targets. `checkTargets` reports duplicates. */
export const readMounts = (service: MapTree, context: ReadContext): readonly Mount[] =>
  items(service, 'volumes')
    .filter(isMap)
    .flatMap(item => readMount(item, context) ?? [])

/** Reads the entries of `tmpfs`. Omits invalid entries, which are reported. */
export const readTmpfsEntries = (service: MapTree, context: ReadContext): readonly TmpfsEntry[] =>
  scalars(service, 'tmpfs').flatMap(item => readTmpfs(item, context) ?? [])

/** Reads `volumes_from`. Reports malformed items, and items that name a container instead of a service. */
export const readVolumesFrom = (service: MapTree, context: ReadContext): readonly At<string>[] =>
  scalars(service, 'volumes_from').flatMap(item => readVolumesFromItem(item, context) ?? [])

function readMount(tree: MapTree, context: ReadContext): Mount | undefined {
  const type = nonEmptyText(tree, 'type')?.value ?? 'volume'
  const source = nonEmptyText(tree, 'source')
  const written = scalar(tree, 'target')
  if (!written) return reportIncomplete(type, 'target', tree.span, context)
  // A Windows named pipe has no Unix path; the planner refuses it.
  const target = type === 'npipe' ? textOf(written) : cleanTarget(textOf(written), context)
  if (!target) return undefined
  const as = readMountAs(tree)
  const base = {
    span: tree.span,
    target,
    readOnly: flag(tree, 'read_only')?.value ?? false,
    ...(as && { as }),
  }
  switch (type) {
    case 'volume':
      return {
        ...base,
        type,
        source: source?.value,
        nocopy: flag(tree, 'volume', 'nocopy')?.value ?? false,
        subpath: checkSubpath(nonEmptyText(tree, 'volume', 'subpath'), context),
        labels: pairs(tree, ['volume', 'labels'], ''),
      }
    case 'bind': {
      if (!source) return reportIncomplete(type, 'source', tree.span, context)
      return {
        ...base,
        type,
        source,
        // The short form produces a `bind` mapping, which creates the path by default. A long form without `bind` does
        // not create it.
        createHostPath: map(tree, 'bind') !== undefined && (flag(tree, 'bind', 'create_host_path')?.value ?? true),
        mustExist: flag(tree, 'bind', 'create_host_path')?.value === false,
        propagation: nonEmptyText(tree, 'bind', 'propagation')?.value,
        recursive: nonEmptyText(tree, 'bind', 'recursive')?.value,
      }
    }
    case 'tmpfs':
      return { ...base, type, source, size: readTmpfsSize(tree, context), mode: integer(tree, 'tmpfs', 'mode')?.value }
    case 'image':
      if (!source) return reportIncomplete(type, 'source', tree.span, context)
      return {
        ...base,
        type,
        source: source.value,
        subpath: checkSubpath(nonEmptyText(tree, 'image', 'subpath'), context),
      }
    case 'cluster':
    case 'npipe':
      return { ...base, type, source: source?.value }
    default:
      return undefined
  }
}

/** Reads `x-mount`. The schema has already checked the value. */
function readMountAs(tree: MapTree): At<MountAs> | undefined {
  const found = nonEmptyText(tree, 'x-mount')
  const word = MOUNT_AS.find(known => known === found?.value)
  return found && word && { value: word, span: found.span }
}

const MOUNT_AS: readonly MountAs[] = ['config', 'secret', 'claim', 'skip']

/** Reads the size of a tmpfs mount in bytes. Returns undefined for zero, which means no limit. */
function readTmpfsSize(tree: MapTree, { reporter }: ReadContext): bigint | undefined {
  const found = scalar(tree, 'tmpfs', 'size')
  return found && readSize(String(found.value), found.span, reporter)
}

function readSize(size: string, span: Span, reporter: ReadContext['reporter']): bigint | undefined {
  const bytes = parseBytes(size)
  if (bytes.ok && bytes.value >= 0n) return bytes.value === 0n ? undefined : bytes.value
  reporter.report(badTmpfsSize, span, bytes.ok ? { size, reason: 'it is negative' } : { size, ...bytes })
  return undefined
}

/** Reads `PATH[:option,…]`, the syntax of `docker run --tmpfs`. */
function readTmpfs(item: ScalarTree, context: ReadContext): TmpfsEntry | undefined {
  const { value, span } = textOf(item)
  const colon = value.indexOf(':')
  const end = colon < 0 ? value.length : colon
  const target = cleanTarget({ value: value.slice(0, end), span: spanInside(item, 0, end) }, context)
  if (!target) return undefined
  const options: string[] = []
  let size: bigint | undefined
  let at = end + 1
  for (const option of colon < 0 ? [] : value.slice(end + 1).split(',')) {
    const amount = /^size=(.*)$/.exec(option)?.[1]
    // A percentage of the node's memory (`size=50%`) cannot be converted to bytes, so it stays an option.
    if (amount !== undefined && !amount.endsWith('%'))
      size = readSize(amount, spanInside(item, at + 'size='.length, at + option.length), context.reporter)
    else if (option !== '') options.push(option)
    at += option.length + 1
  }
  return { span, target: target.value, ...(size !== undefined && { size }), options }
}

function readVolumesFromItem(item: ScalarTree, { reporter }: ReadContext): At<string> | undefined {
  const { value, span } = textOf(item)
  if (value.startsWith('container:')) {
    reporter.report(fromContainer, span, { container: value.split(':')[1] ?? '' })
    return undefined
  }
  if (/^[^:]+(?::(?:ro|rw))?$/.test(value)) return { value, span }
  reporter.report(badVolumesFrom, span, { value })
  return undefined
}

/** Reads `shm_size` in bytes. Returns undefined for zero. */
export function readShmSize(service: MapTree): At<bigint> | undefined {
  const found = scalar(service, 'shm_size')
  const bytes = found && parseBytes(String(found.value))
  return found && bytes?.ok && bytes.value > 0n ? { value: bytes.value, span: found.span } : undefined
}
