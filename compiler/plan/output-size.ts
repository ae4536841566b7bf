import type { Reporter } from '../diagnostics/reporter.ts'
import type { ObjectPlan, Plan } from './plan.ts'

// A few short lines of a file can become a large output: every alias has all labels and ports,
// every name of a Pod all of its ports, every mount of a volume a script that fills it. So the
// output is counted before any of it is printed.

/** About what an object has that does not depend on the file: its own labels, kind and name. */
const OBJECT = 400
/** About what a line has beside its value: blanks. */
const LINE = 8
/** The scripts that a word of the plan stands for, in characters. */
const SCRIPTS: Readonly<Record<string, number>> = { fills: 2_000, waits: 800 }

/** The names of the lists of a plan that hold objects. */
type ObjectLists = { [List in keyof Plan]: Plan[List] extends readonly ObjectPlan[] ? List : never }[keyof Plan]

/** True for the lists whose objects are printed; it has every list of a plan. */
const PRINTED: Readonly<Record<ObjectLists, boolean>> = {
  workloads: true,
  services: true,
  routes: true,
  openRoutes: false,
  claims: true,
  configMaps: true,
  secrets: true,
  externalSecrets: true,
  policies: true,
}
const printed = (Object.keys(PRINTED) as ObjectLists[]).filter(list => PRINTED[list]) // the keys of the record

/** Spends the characters that the manifests of a plan will have, about, on the limit `output`. */
export function spendOutput(plan: Plan, { budget }: Reporter): void {
  for (const list of printed)
    for (const object of plan[list]) budget.spend('output', OBJECT + sizeOf(object), object.span)
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
  // `Object.entries` would make a list for each of a plan's many objects.
  for (const key in value) {
    const child: unknown = value[key as keyof typeof value]
    if (key === 'span') continue
    size += key.length + sizeOf(child)
    if (Array.isArray(child)) size += child.length * (SCRIPTS[key] ?? 0)
  }
  return size
}
