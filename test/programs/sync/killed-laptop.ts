import fc from 'fast-check'
import { type Side, TwoSides } from '../../support/sync/two-sides.ts'
import { KilledDisk } from './killed-disk.ts'

const OF_CONTAINER = ['r', 'both/s', 'large-r']
const OF_LAPTOP = ['l', 'both/m', 'large-l']
const LARGE = 'x'.repeat((1 << 20) + 1)
const isLarge = (path: string): boolean => path.startsWith('large')

/** Each path is one side's, which writes or deletes it. */
interface Edit {
  readonly path: string
  readonly isDelete: boolean
}

/** A process of the laptop from its start until it is killed. */
interface Life {
  readonly edits: readonly (Edit & { readonly wait: number })[]
  /** Messages after which the connection breaks, once. */
  readonly cut: number
  /** Changes to its disk after which it is killed, counted from before one of the edits. */
  readonly killBefore: number
  readonly changes: number
  /** Edits after the kill, before the next process starts. */
  readonly after: readonly Edit[]
}

const edit = fc.record({
  path: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...[...OF_CONTAINER, ...OF_LAPTOP].filter(path => !isLarge(path))) },
    { weight: 1, arbitrary: fc.constantFrom(...[...OF_CONTAINER, ...OF_LAPTOP].filter(isLarge)) },
  ),
  isDelete: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
})

export const lives: fc.Arbitrary<readonly Life[]> = fc.array(
  fc.record({
    edits: fc.array(
      fc.tuple(edit, fc.constantFrom(1, 6, 20, 100, 300, 3000)).map(([one, wait]) => ({ ...one, wait })),
      { maxLength: 4 },
    ),
    cut: fc.oneof(fc.constant(Infinity), fc.integer({ min: 0, max: 12 })),
    killBefore: fc.nat({ max: 4 }),
    changes: fc.integer({ min: 0, max: 20 }),
    after: fc.array(edit, { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 5 },
)

/** Checks that the owner of each path has the last word about it, as if no process had ever been killed. */
export async function expectLastWord(all: readonly Life[]): Promise<void> {
  const sides = new TwoSides({
    on: event => {
      sides.events.push(event)
      if (event.kind === 'stopped') sides.engine.answer(event.folder, 'delete')
    },
  })
  const last = new Map<string, string | undefined>()
  let count = 0
  const change = ({ path, isDelete }: Edit) => {
    const side = OF_CONTAINER.includes(path) ? 'remote' : 'local'
    const text = isDelete ? undefined : `${++count}${isLarge(path) ? LARGE : ''}`
    if (text === undefined) sides.disk(side).removeAll(sides.place(side, path))
    else save(sides, side, path, text)
    last.set(path, text)
  }
  for (let n = 0; n < 20; n++) save(sides, 'local', `kept/${n}`, `${n}`)
  for (const path of OF_LAPTOP) change({ path, isDelete: false })
  sides.startAgent()
  sides.startLaptop()
  try {
    await sides.settle()
    for (const life of all) {
      await sides.engine.close()
      const disk = new KilledDisk(sides.laptop)
      disk.onKilled = () => sides.pair?.cut()
      sides.startLaptop({ disk })
      sides.connect()
      sides.pair?.cutAfter(life.cut)
      for (const [at, one] of life.edits.entries()) {
        if (at === life.killBefore) disk.left = life.changes
        change(one)
        await sides.clock.run(one.wait)
        if (!disk.isKilled && sides.engine.status().state === 'disconnected') sides.connect()
      }
      disk.kill()
      life.after.forEach(change)
    }
    await sides.engine.close()
    sides.startLaptop()
    await sides.settle()
    expectWords(sides, last)
  } finally {
    await sides.close()
  }
  if (sides.laptop.openFiles + sides.container.openFiles > 0) throw new Error('files were left open')
}

function save(sides: TwoSides, side: Side, path: string, text: string): void {
  const place = sides.place(side, path)
  sides.disk(side).folders(place.slice(0, place.lastIndexOf('/')))
  sides.disk(side).put(place, text)
}

function expectWords(sides: TwoSides, last: ReadonlyMap<string, string | undefined>): void {
  const [local, remote] = [sides.files('local'), sides.files('remote')]
  for (const [path, text] of last)
    for (const [side, files] of Object.entries({ local, remote }))
      if (files[path] !== text)
        throw new Error(`\`${path}\` is ${files[path]?.slice(0, 9)} instead of ${text?.slice(0, 9)}: ${side}`)
  for (const event of sides.events) if (event.kind === 'conflict') throw new Error(`a conflict about \`${event.path}\``)
  const leftovers = Object.keys(local).filter(path => path.includes('.devctl-part-'))
  if (leftovers.length > 0) throw new Error(`left: ${leftovers.join(' ')}`)
}
