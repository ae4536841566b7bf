import type { KubeObject } from '../cluster/cluster.ts'
import { isDeclaredElsewhere } from './adoption.ts'
import { type Changes, isMadeByCommand } from './changes.ts'
import { type Difference, type Key, pathText } from './comparison.ts'
import { type Owner, ownerOf } from './field-owners.ts'
import { SECRETS_ANNOTATION } from './labels.ts'
import type { Step } from './steps.ts'
import { isRoute, nameOf } from './wanted.ts'

/** What would become of an object. */
export interface ObjectDiff {
  readonly action: 'create' | 'update' | 'replace' | 'delete' | 'keep'
  /** `deployment/web`. */
  readonly object: string
  /** `compose.yaml#services.web`; absent for what no file has any more. */
  readonly source?: string
  readonly values: readonly ValueDiff[]
  /** What it means, in words. */
  readonly consequence?: string
}

/** A value that would change. Secret values are masked. */
export interface ValueDiff {
  readonly path: string
  readonly keys: readonly Key[]
  /** Absent: it is not there. */
  readonly before?: unknown
  readonly after?: unknown
  /** What is to be read in place of the two. */
  readonly masked?: string
  /** Who has set the present value, where that was not devctl. */
  readonly by?: Owner
}

/** What a deploy would do, object by object: what is wanted in its order, then what would go, then what stays although nobody wants it. */
export function diffOf({ steps, pruneFirst, prune, kept }: Changes): readonly ObjectDiff[] {
  return [
    ...[...steps.values()].flatMap(stepDiff),
    ...[...pruneFirst, ...prune].map(
      (object): ObjectDiff => ({
        action: 'delete',
        object: nameOf(object),
        values: [],
        consequence: pruneFirst.includes(object)
          ? 'makes room for its successor: its Pods end before the new one is made'
          : 'left the Compose file; will be deleted',
      }),
    ),
    // What commands made is none of the files' business.
    ...kept
      .filter(object => !isMadeByCommand(object))
      .map(
        (object): ObjectDiff => ({
          action: 'keep',
          object: nameOf(object),
          values: [],
          consequence:
            object.kind === 'PersistentVolumeClaim'
              ? 'left the Compose file; stays, with its data'
              : isRoute(object)
                ? 'stays as it is: no domain is given'
                : 'left the Compose file; stays, since it asks to be kept',
        }),
      ),
  ]
}

function stepDiff(step: Step): readonly ObjectDiff[] {
  if (step.action === 'unchanged') return []
  const { object, source } = step.wanted
  const base = { object: nameOf(object), source }
  switch (step.action) {
    case 'create':
      return [{ ...base, action: 'create', values: [] }]
    case 'replace':
      return [{ ...base, action: 'replace', values: [], consequence: step.reason }]
    case 'update': {
      const values = step.differences.map(difference => valueDiff(difference, step.live))
      const declared = isDeclaredElsewhere(step.live)
        ? ', and loses what `kubectl apply` has set and the files do not say'
        : ''
      const consequence = step.isAdopted ? `becomes part of the environment${declared}` : undefined
      return [{ ...base, action: 'update', values, ...(consequence && { consequence }) }]
    }
  }
}

/** One value that differs, for people and programs: without what is secret. */
export function valueDiff({ keys, before, after }: Difference, live: KubeObject): ValueDiff {
  const by = ownerOf(live, keys)
  const base = { path: pathText(keys), keys, ...(by && { by }) }
  const mask = maskOf(live.kind, keys, before, after)
  return mask === undefined
    ? {
        ...base,
        ...(before !== undefined && { before: masked(before) }),
        ...(after !== undefined && { after: masked(after) }),
      }
    : { ...base, masked: mask }
}

/** Variables whose names look like they hold a secret (decisions section 2). */
const LOOKS_SECRET = /pass|secret|token|credential|private|api_?key|auth/i

function maskOf(kind: string, keys: readonly Key[], before: unknown, after: unknown): string | undefined {
  if (keys.includes(SECRETS_ANNOTATION)) return 'the secrets that it mounts have changed: its Pods are made anew'
  if (kind === 'Secret' && (keys[0] === 'data' || keys[0] === 'stringData')) {
    const size = (value: unknown) => Buffer.from(String(value), 'base64').length
    if (before === undefined) return `*** (new, ${size(after)} bytes)`
    return after === undefined ? '*** (removed)' : `*** (changed, ${size(before)} → ${size(after)} bytes)`
  }
  const variable = keys.findLast(key => typeof key === 'object')
  if (variable && keys.includes('env') && LOOKS_SECRET.test(variable.item))
    return before === undefined ? '*** (new)' : after === undefined ? '*** (removed)' : '*** (changed)'
  return undefined
}

/** A value without the secret variables in it: a whole container, say. */
function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(masked)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const name = 'name' in value && typeof value.name === 'string' ? value.name : ''
  const isSecret = LOOKS_SECRET.test(name) && 'value' in value
  return Object.fromEntries(entries.map(([key, inner]) => [key, isSecret && key === 'value' ? '***' : masked(inner)]))
}
