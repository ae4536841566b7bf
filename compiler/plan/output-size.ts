import type { Reporter } from '../diagnostics/reporter.ts'
import type { ObjectPlan, Plan } from './plan.ts'

// A few short lines of a file can become a large output: every alias has all labels and ports, every name of a Pod has
// all of its ports, and every mount of a volume has a script that fills it. So devctl estimates the size of the output
// before it prints any of it.

/**
 * Approximate size, in characters, of the parts of an object that do not depend on the file: its labels, kind and name.
 */
const OBJECT = 400
/** Approximate number of blanks that precede a value in its line of the manifests. */
const LINE = 8
/**
 * Approximate size, in characters, of the script that each item of a list expands to. The keys are the names of the
 * lists in a Pod's plan.
 */
const SCRIPTS: Readonly<Record<string, number>> = { fills: 2_000, waits: 800 }

/** Lists of a plan that are not printed as objects. */
const NOT_PRINTED: ReadonlySet<string> = new Set<keyof Plan>(['openRoutes', 'builds', 'requiredSecrets'])

/** Charges the approximate size of a plan's manifests, in characters, to the limit `output`. */
export function spendOutput(plan: Plan, { budget }: Reporter): void {
  for (const [name, list] of Object.entries(plan))
    if (Array.isArray(list) && !NOT_PRINTED.has(name))
      for (const object of list as readonly ObjectPlan[]) // all other lists are of objects
        budget.spend('output', OBJECT + sizeOf(object), object.span)
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + LINE
  if (value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null) return LINE
  let size = 0
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOf(item)
    return size
  }
  // `Object.entries` would allocate an array for each of a plan's many objects.
  for (const key in value) {
    const child: unknown = value[key as keyof typeof value]
    if (key === 'span') continue
    size += key.length + sizeOf(child)
    if (Array.isArray(child)) size += child.length * (SCRIPTS[key] ?? 0)
  }
  return size
}
