import { expect, test } from 'vitest'
import { type FileEntry, FOLDER, linkEntry } from '../../../../sync/core/entry.ts'
import { type MergeInput, merge } from '../../../../sync/core/merge.ts'

let inode = 0
const file = (hash: string | undefined, size = 5, more: Partial<FileEntry> = {}): FileEntry => ({
  kind: 'file',
  size,
  mtime: 1,
  ctime: ++inode,
  inode,
  executable: false,
  ...(hash !== undefined && { hash }),
  ...more,
})
const decide = (input: Partial<MergeInput>) =>
  merge({ base: undefined, local: undefined, remote: undefined, direction: 'both', ...input })

const [a, b] = [file('A'), file('A')]
const base = { local: a, remote: b }
const edited = file('B')
const other = file('C')
const ofImage = file('C', 5, { isOfImage: true })

test.each([
  ['nothing anywhere', {}, 'nothing'],
  ['new on the laptop', { local: a }, 'send'],
  ['new in the container', { remote: b }, 'fetch'],
  ['of the image, only in the container: parked', { remote: ofImage }, 'nothing'],
  ['both have the same, nothing was agreed on', { local: a, remote: b }, 'agree'],
  ['both have something of one size', { local: file(undefined), remote: file(undefined) }, 'hash'],
  ['nothing changed', { base, local: a, remote: b }, 'nothing'],
  ['edited on the laptop', { base, local: edited, remote: b }, 'send'],
  ['edited in the container', { base, local: a, remote: edited }, 'fetch'],
  ['another image has another one of it', { base, local: a, remote: ofImage }, 'send'],
  ['another image has one that was deleted on the laptop', { base, remote: ofImage }, 'remove-remote'],
  ['deleted on the laptop', { base, remote: b }, 'remove-remote'],
  ['deleted in the container', { base, local: a }, 'remove-local'],
  ['deleted on both', { base }, 'forget'],
  ['edited on the laptop, deleted in the container', { base, local: edited }, 'send'],
  ['edited in the container, deleted on the laptop', { base, remote: edited }, 'fetch'],
  ['edited alike on both', { base, local: edited, remote: file('B') }, 'agree'],
  ['touched on the laptop', { base, local: { ...a, mtime: 2, ctime: 99 }, remote: b }, 'send-meta'],
  ['touched in the container', { base, local: a, remote: { ...b, mtime: 2, ctime: 99 } }, 'agree'],
  ['may run on the laptop', { base, local: { ...a, executable: true, ctime: 99 }, remote: b }, 'send-meta'],
  ['may run in the container', { base, local: a, remote: { ...b, executable: true, ctime: 99 } }, 'fetch-meta'],
  ['written with its old size', { base, local: file(undefined), remote: b }, 'hash'],
  ['another size needs no hash', { base, local: file(undefined, 6), remote: b }, 'send'],
  ['a folder on both', { local: FOLDER, remote: FOLDER }, 'agree'],
  [
    'a link that leads elsewhere',
    { base: { local: linkEntry('x'), remote: linkEntry('x') }, local: linkEntry('y'), remote: linkEntry('x') },
    'send',
  ],
  ['a folder that stays in the container', { base: { local: undefined, remote: FOLDER }, remote: FOLDER }, 'nothing'],
  [
    'the same folder, made on the laptop',
    { base: { local: undefined, remote: FOLDER }, local: FOLDER, remote: FOLDER },
    'agree',
  ],
] as const)('merge decides on a path: %s', (_name, input, expected) => {
  expect(decide(input).do).toBe(expected)
})

test('the loser of a conflict is kept, except a file of the image', () => {
  expect(decide({ base, local: edited, remote: other })).toEqual({ do: 'send', keep: true })
  expect(decide({ local: edited, remote: other })).toEqual({ do: 'send', keep: true })
  expect(decide({ local: edited, remote: ofImage })).toEqual({ do: 'send', keep: false })
  expect(decide({ local: edited, remote: FOLDER })).toEqual({ do: 'send', keep: false })
  expect(decide({ remote: edited, isBelowFile: true })).toEqual({ do: 'remove-remote', keep: true })
})

test('the direction `up` never changes the laptop', () => {
  const sides = [undefined, a, edited, FOLDER, linkEntry('x')]
  for (const local of sides)
    for (const remote of [undefined, b, other, FOLDER])
      for (const known of [undefined, base])
        expect(decide({ base: known, local, remote, direction: 'up' }).do).not.toMatch(/fetch|local/)
})

test('merge decides every case, and changes the laptop only after a change in the container', () => {
  const sides = [undefined, a, edited, file(undefined), FOLDER, linkEntry('x'), ofImage]
  const bases = [undefined, base, { local: FOLDER, remote: FOLDER }, { local: undefined, remote: FOLDER }]
  for (const known of bases)
    for (const local of sides)
      for (const remote of [...sides, b])
        for (const isBelowFile of [false, true]) {
          const decision = decide({ base: known, local, remote, isBelowFile })
          expect(decision.do).toBeTypeOf('string')
          if (known?.remote === remote && remote) expect(decision.do).not.toMatch(/^fetch|remove-local/)
        }
})
