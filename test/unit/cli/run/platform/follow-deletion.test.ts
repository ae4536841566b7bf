import { expect, test } from 'vitest'
import { waitsTeller } from '../../../../../cli/run/platform/follow-deletion.ts'

/** Returns the messages about a deletion that waits for each of these for some seconds, with two checks per second. */
function toldOf(...all: readonly (readonly [string | undefined, number])[]): readonly string[] {
  const told: string[] = []
  let now = 1e12
  const tell = waitsTeller(
    'namespace shop',
    text => told.push(text),
    () => now,
  )
  for (const [waits, seconds] of all)
    for (let look = 0; look < seconds * 2; look++) {
      tell(waits)
      now += 500
    }
  return told
}

test('waitsTeller reports once, after some seconds, what a deletion waits for', () => {
  expect(toldOf(['a', 20], ['b', 3], [undefined, 9], ['c\u001b[2J', 8])).toEqual([
    'namespace shop is still being deleted: a\n',
    'namespace shop is still being deleted: c\\u{1b}[2J\n',
  ])
})

test('waitsTeller reports nothing if the wait ends soon', () => {
  expect(toldOf(['a', 4], [undefined, 1], ['a', 4])).toEqual([])
})
