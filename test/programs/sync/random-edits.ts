import fc from 'fast-check'
import type { MemoryDisk } from '../../support/sync/memory-disk.ts'
import { type Side, TwoSides } from '../../support/sync/two-sides.ts'

/** Event that may happen to two trees and the connection between them. */
export type Step =
  | { readonly kind: 'write' | 'append'; readonly side: Side; readonly path: string }
  | { readonly kind: 'delete' | 'folder' | 'link' | 'mode' | 'touch'; readonly side: Side; readonly path: string }
  | { readonly kind: 'rename'; readonly side: Side; readonly path: string; readonly to: string }
  | { readonly kind: 'wait'; readonly milliseconds: number }
  | { readonly kind: 'cut'; readonly frames: number }
  | { readonly kind: 'connect' | 'restart-laptop' | 'crash-laptop' | 'restart-agent' | 'new-volume' }
  | { readonly kind: 'full'; readonly side: Side; readonly room: number }
  | { readonly kind: 'refuse'; readonly side: Side; readonly path: string }
  | { readonly kind: 'ignore'; readonly text: string }

const side = fc.constantFrom<Side>('local', 'remote')
const path = fc.constantFrom(
  'a',
  'b',
  'c',
  'a/x',
  'a/y',
  'd/x',
  'd/y',
  'd/e/z',
  'd',
  'e',
  'd/e',
  'image/one',
  'image/two',
)

export const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: fc.record({ kind: fc.constantFrom('write' as const, 'append' as const), side, path }) },
    {
      weight: 6,
      arbitrary: fc.record({ kind: fc.constantFrom('delete', 'folder', 'link', 'mode', 'touch'), side, path }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('rename' as const), side, path, to: path }) },
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constant('wait' as const), milliseconds: fc.constantFrom(1, 6, 20, 300, 3000) }),
    },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('cut' as const), frames: fc.integer({ min: 0, max: 12 }) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('connect' as const) }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constantFrom('restart-laptop', 'crash-laptop', 'restart-agent', 'new-volume') }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ kind: fc.constant('full' as const), side, room: fc.integer({ min: 0, max: 40 }) }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('refuse' as const), side, path }) },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('ignore' as const),
        text: fc.constantFrom('', 'a\n', 'd/e\nb\n', '!d/x\nd\n'),
      }),
    },
  ) as fc.Arbitrary<Step>,
  { minLength: 1, maxLength: 24 },
)

const IMAGE = { a: 'image a', 'image/one': 'image 1', 'image/two': 'image 2', 'd/x': 'image d' }

/** Contents that a user has written, and that no user has knowingly deleted or overwritten. */
class Wanted {
  readonly #tokens = new Set<string>()
  #last = 0

  next(): string {
    // Of one length, so that sizes do not tell.
    const token = `<${String(++this.#last).padStart(4, '0')}>`
    this.#tokens.add(token)
    return token
  }

  forget(text: string | undefined): void {
    for (const [token] of (text ?? '').matchAll(/<\d+>/g)) this.#tokens.delete(token)
  }

  [Symbol.iterator](): Iterator<string> {
    return this.#tokens[Symbol.iterator]()
  }
}

/** Runs the steps, lets both sides come to rest, and throws if they differ or something is lost. */
export async function expectNothingLost(steps: readonly Step[], image: boolean, isSynced: boolean): Promise<void> {
  const sides = new TwoSides({
    on: event => {
      if (event.kind === 'stopped') sides.engine.answer(event.folder, 'restore')
    },
  })
  const wanted = new Wanted()
  if (image) sides.fill(IMAGE)
  sides.start()
  try {
    if (isSynced) await sides.settle()
    else sides.connect()
    for (const step of steps) await take(step, sides, wanted, image)
    for (const disk of [sides.laptop, sides.container]) {
      disk.room = Infinity
      disk.fault = () => {}
    }
    // Paths that were ignored for some time are merged at last.
    ignore(sides, '')
    await sides.settle()
    expectEqual(sides)
    expectKept(sides, wanted)
  } finally {
    await sides.close()
  }
  if (sides.laptop.openFiles + sides.container.openFiles > 0) throw new Error('files were left open')
}

async function take(step: Step, sides: TwoSides, wanted: Wanted, image: boolean): Promise<void> {
  switch (step.kind) {
    case 'wait':
      await sides.clock.run(step.milliseconds)
      return
    case 'connect':
      sides.connect()
      return
    case 'cut':
      sides.pair?.cutAfter(step.frames)
      return
    case 'restart-laptop':
    case 'crash-laptop': {
      sides.pair?.cut()
      await sides.clock.run(2)
      // A crash leaves the base as it was last saved, and its journal.
      const disk = sides.laptop
      const saved = step.kind === 'crash-laptop' ? copyOf(disk, '/home/state') : undefined
      await sides.engine.close()
      saved?.()
      sides.startLaptop()
      return
    }
    case 'restart-agent':
      sides.pair?.cut()
      sides.startAgent()
      return
    case 'new-volume': {
      // Contents that only the old volume had are lost with it.
      const here = JSON.stringify([sides.files('local'), sides.kept()])
      for (const token of [...wanted]) if (!here.includes(token)) wanted.forget(token)
      sides.newVolume(image ? IMAGE : {})
      return
    }
    case 'full':
      sides.disk(step.side).room = step.room
      return
    case 'refuse': {
      const place = sides.place(step.side, step.path)
      sides.disk(step.side).fault = (_call, at) => {
        if (at === place) throw Object.assign(new Error('refused'), { code: 'EACCES' })
      }
      return
    }
    case 'ignore':
      ignore(sides, step.text)
      return
    default:
      edit(step, sides, wanted)
  }
}

type Edit = Exclude<
  Step,
  {
    readonly kind:
      | 'wait'
      | 'cut'
      | 'connect'
      | 'restart-laptop'
      | 'crash-laptop'
      | 'restart-agent'
      | 'new-volume'
      | 'full'
      | 'refuse'
      | 'ignore'
  }
>

function ignore({ laptop }: TwoSides, text: string): void {
  const { room, fault } = laptop
  laptop.room = Infinity
  laptop.fault = () => {}
  laptop.put('/home/project/.stignore', text)
  laptop.room = room
  laptop.fault = fault
}

/** A person or a program changes something; its own disk never refuses. */
function edit(step: Edit, sides: TwoSides, wanted: Wanted): void {
  // Files that exist before the first contact count as the image's.
  if (step.side === 'remote' && !sides.container.entry('/volume/.devctl/image-0')) return
  const disk = sides.disk(step.side)
  const { room, fault } = disk
  disk.room = Infinity
  disk.fault = () => {}
  try {
    change(step, disk, sides.place(step.side, step.path), wanted, sides)
  } finally {
    disk.room = room
    disk.fault = fault
  }
}

function change(step: Edit, disk: MemoryDisk, place: string, wanted: Wanted, sides: TwoSides): void {
  const above = place.slice(0, place.lastIndexOf('/'))
  const there = () => JSON.stringify([disk.text(place), disk.files(place)])
  switch (step.kind) {
    case 'write':
      forgetFilesAbove(disk, above, wanted)
      wanted.forget(there())
      disk.folders(above)
      disk.put(place, wanted.next())
      return
    case 'append': {
      const text = disk.text(place)
      if (text !== undefined) disk.put(place, text + wanted.next())
      return
    }
    case 'delete':
      wanted.forget(there())
      disk.removeAll(place)
      return
    case 'folder':
      forgetFilesAbove(disk, place, wanted)
      disk.folders(place)
      return
    case 'link':
      forgetFilesAbove(disk, above, wanted)
      wanted.forget(there())
      disk.folders(above)
      disk.removeAll(place)
      disk.makeLink('x', place)
      return
    case 'mode':
    case 'touch': {
      if (disk.text(place) === undefined) return
      const file = disk.open(place, 'update')
      if (step.kind === 'mode') disk.setExecutable(file, !disk.opened(file)!.executable)
      else disk.setTimes(file, sides.clock.now())
      disk.close(file)
      return
    }
    case 'rename': {
      const to = sides.place(step.side, step.to)
      if (disk.entry(place) === undefined || `${to}/`.startsWith(`${place}/`) || `${place}/`.startsWith(`${to}/`))
        return
      const aboveTo = to.slice(0, to.lastIndexOf('/'))
      if (disk.entry(aboveTo)?.kind !== 'folder') return
      wanted.forget(JSON.stringify([disk.text(to), disk.files(to)]))
      disk.removeAll(to)
      disk.rename(place, to)
      return
    }
  }
}

function forgetFilesAbove(disk: MemoryDisk, place: string, wanted: Wanted): void {
  const names = place.split('/')
  for (let n = 2; n <= names.length; n++) wanted.forget(disk.text(names.slice(0, n).join('/')))
}

function copyOf(disk: MemoryDisk, place: string): () => void {
  const names = disk.list(place).filter(name => name.startsWith('base-'))
  const copies = names.map(name => [`${place}/${name}`, disk.bytes(`${place}/${name}`)] as const)
  return () => {
    const { room } = disk
    disk.room = Infinity
    for (const name of disk.list(place).filter(name => name.startsWith('base-'))) disk.removeAll(`${place}/${name}`)
    for (const [path, bytes] of copies) disk.putBytes(path, bytes)
    disk.room = room
  }
}

/** Files of the image that the laptop does not have may be in the container alone, in their folders. */
function expectEqual(sides: TwoSides): void {
  const local = sides.files('local')
  const remote = sides.files('remote')
  // It is never synchronized.
  delete local['.stignore']
  for (const [path, text] of Object.entries(remote))
    if (!(path in local) && text.startsWith('image')) delete remote[path]
  for (const path of Object.keys(remote).reverse())
    if (
      path.endsWith('/') &&
      !(path in local) &&
      !Object.keys(remote).some(one => one !== path && one.startsWith(path))
    )
      delete remote[path]
  const [one, other] = [JSON.stringify(sorted(local)), JSON.stringify(sorted(remote))]
  if (one !== other) throw new Error(`the sides differ:\n${one}\n${other}\n${JSON.stringify(sides.engine.status())}`)
}

const sorted = (files: Record<string, string>) => Object.entries(files).sort(([one], [other]) => (one < other ? -1 : 1))

function expectKept(sides: TwoSides, wanted: Wanted): void {
  const all = JSON.stringify([sides.files('local'), sides.kept()])
  const lost = [...wanted].filter(token => !all.includes(token))
  if (lost.length > 0) throw new Error(`lost: ${lost.join(' ')}\n${all}`)
}
