import { createHash } from 'node:crypto'

/**
 * Returns the order in which builders are tried for a build. The order is always the same for one key, so builds find
 * their cache, and differs between keys (rendezvous hashing). When a builder is added or removed, only the builds that
 * prefer it move.
 */
export function inOrder(builders: readonly string[], key: string): readonly string[] {
  const weight = (builder: string) => createHash('sha256').update(`${builder}\0${key}`).digest('hex')
  return builders
    .map(builder => ({ builder, weight: weight(builder) }))
    .sort((a, b) => (a.weight < b.weight ? 1 : -1))
    .map(({ builder }) => builder)
}

/** Number of builds on a builder from which the next builder is tried. */
const COMFORTABLE = 2

/**
 * Returns the builder for a build: the first one in its order with fewer than two builds, otherwise the one with the
 * fewest; undefined if all are full.
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
