import { createHash } from 'node:crypto'

/**
 * The builders in the order in which they are asked for a build: the same for the same key, so that
 * builds find what they have left, and for other keys others (rendezvous hashing). When a builder is
 * added or goes, only the builds that it is the first for move.
 */
export function inOrder(builders: readonly string[], key: string): readonly string[] {
  const weight = (builder: string) => createHash('sha256').update(`${builder}\0${key}`).digest('hex')
  return builders
    .map(builder => ({ builder, weight: weight(builder) }))
    .sort((a, b) => (a.weight < b.weight ? 1 : -1))
    .map(({ builder }) => builder)
}

/** Builds that a builder has before the next one is asked. */
const COMFORTABLE = 2

/**
 * The builder for a build: the first in its order that has less than two, else the one with the
 * fewest; undefined if each has as many as it takes.
 */
export function builderFor(
  order: readonly string[],
  runningOn: (builder: string) => number,
  most: number,
): string | undefined {
  const free = order.filter(one => runningOn(one) < most)
  const fewest = Math.min(...free.map(runningOn))
  return free.find(one => runningOn(one) < COMFORTABLE) ?? free.find(one => runningOn(one) === fewest)
}
