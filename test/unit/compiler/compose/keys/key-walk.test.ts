import { describe, expect, test } from 'vitest'
import { type TableRow, tableRows } from '../../../../../compiler/compose/keys/lookup.ts'
import { goldenSamples, otherValues, type Rendered, rendered, type Sample, samples, saysMore } from './key-samples.ts'

/**
 * Checks the table of keys, and with it docs/compose/: a `mapped` key changes the manifests. In
 * each sample that has the key (or each golden case, if no sample has), it is removed, or gets
 * another value if it is required. The output must differ.
 */
const rows = tableRows()
/** The known keys by parent. `*` stands for names that the user chooses. */
const named = new Map<string, Set<string>>()
for (const { path } of rows) {
  const parent = path.slice(0, -1).join('.')
  named.set(parent, (named.get(parent) ?? new Set()).add(path.at(-1)!))
}

test('the samples have no errors', () => {
  expect(samples.flatMap(sample => rendered(sample, sample.model).errors)).toEqual([])
})

test('`required: false` makes a dependency optional', () => {
  const [{ before, changed }] = [...variants(rows.find(({ path }) => path.join('.') === optional)!)] as [Variant]
  expect(before.errors).toEqual([])
  expect(changed.errors).not.toEqual([])
})

const optional = 'services.*.depends_on.*.required'

describe('mapped keys', () => {
  const mapped = rows.filter(({ row, path }) => row.fate === 'mapped' && path.join('.') !== optional)
  test.each(mapped.map(row => [row.path.join('.'), row] as const))('%s changes the output', (path, row) => {
    const tried = { all: 0, valid: 0 }
    for (const variant of variants(row)) {
      tried.all++
      if (variant.changed.objects === undefined) continue
      tried.valid++
      if (makesDifference(variant)) return
    }
    expect(tried.all, `no golden case of a single file has ${path}, nor a sample in key-samples.ts`).toBeGreaterThan(0)
    expect(tried.valid, `${path} may not be absent: give it another value in key-samples.ts`).toBeGreaterThan(0)
    expect.fail(`${path} does not change the manifests of any sample`)
  })
})

describe('keys without an exact equivalent', () => {
  // Keys for desktop machines or file labels, names used only by the engine, and options of a
  // driver that is refused itself.
  const nothingToLose =
    /\.(consistency|selinux|attachable)$|^networks\.\*\.name$|devices\.\[\]\.permissions$|^secrets\.\*\.driver_opts$/
  const lost = rows.filter(
    ({ row, path }) =>
      (row.fate === 'none' || row.fate === 'approximated') && !row.loss && !nothingToLose.test(path.join('.')),
  )
  test.each(lost.map(row => [row.path.join('.'), row] as const))('%s has a diagnostic', (path, row) => {
    let tried = 0
    for (const { before, changed } of variants(row)) {
      tried++
      if (changed.objects !== undefined && saysMore(before, changed)) return
    }
    expect(tried, `no golden case of a single file has ${path}, nor a sample in key-samples.ts`).toBeGreaterThan(0)
    expect.fail(`no diagnostic names ${path}`)
  })
})

/** True if the manifests differ, or the diagnostics: such a key is not dropped silently. */
const makesDifference = ({ before, changed }: Variant): boolean =>
  before.objects !== changed.objects || saysMore(before, changed) || saysMore(changed, before)

interface Variant {
  readonly before: Rendered
  readonly changed: Rendered
}

/** The changed samples, each rendered when it is asked for. */
function* variants({ path }: TableRow): Generator<Variant> {
  const isIn = (sample: Sample) => placesOf(sample.model, path).length > 0
  for (const sample of samples.some(isIn) ? samples : goldenSamples(path.at(-1)!))
    for (const place of placesOf(sample.model, path))
      yield { before: render(sample), changed: rendered(sample, changedAt(sample.model, place, path.join('.'))) }
}

const before = new Map<Sample, Rendered>()
function render(sample: Sample): Rendered {
  const known = before.get(sample) ?? rendered(sample, sample.model)
  expect(known.errors, 'errors of a sample').toEqual([])
  before.set(sample, known)
  return known
}

type Place = readonly (string | number)[]

/** Finds the values at a path of the table in a model. */
function placesOf(model: unknown, path: readonly string[]): readonly Place[] {
  let found: { readonly place: Place; readonly value: unknown }[] = [{ place: [], value: model }]
  for (const [depth, step] of path.entries()) {
    const known = named.get(path.slice(0, depth).join('.'))
    found = found.flatMap(({ place, value }) =>
      stepsInto(value, step, known).map(key => ({ place: [...place, key], value: (value as never)[key] })),
    )
  }
  return found.map(({ place }) => place)
}

function stepsInto(value: unknown, step: string, known: ReadonlySet<string> | undefined): readonly (string | number)[] {
  if (Array.isArray(value)) return step === '[]' ? [...value.keys()] : []
  if (typeof value !== 'object' || value === null || step === '[]') return []
  if (step !== '*') return Object.hasOwn(value, step) ? [step] : []
  return Object.keys(value).filter(key => !known?.has(key))
}

/** Removes the key from the model, or sets the other value that the samples have for it. */
function changedAt(model: unknown, place: Place, path: string): unknown {
  const [key, ...rest] = place
  if (key === undefined) return otherValues[path]
  const copy = Array.isArray(model) ? [...model] : { ...(model as object) }
  if (rest.length === 0 && !Object.hasOwn(otherValues, path)) delete (copy as never)[key]
  else (copy as Record<string | number, unknown>)[key] = changedAt((model as never)[key], rest, path)
  return copy
}
