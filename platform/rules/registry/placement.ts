import { createHash } from 'node:crypto'

/**
 * Returns the order in which builders are tried for a build. The order is always the same for one key, so builds find
 * their cache, and differs between keys (rendezvous hashing). When a builder is added or removed, only the builds for
 * which it is first in the order change their builder.
 */
export function inOrder(builders: readonly string[], key: string): readonly string[] {
  const weight = (builder: string) => createHash('sha256').update(`${builder}\0${key}`).digest('hex')
  return builders
    .map(builder => ({ builder, weight: weight(builder) }))
    .sort((a, b) => (a.weight < b.weight ? 1 : -1))
    .map(({ builder }) => builder)
}

/** Number of running builds at which a builder is skipped in favor of the next one. */
const COMFORTABLE = 2

/**
 * Returns the builder for a build: the first builder of `order` with fewer than two running builds, otherwise the
 * builder with the fewest running builds. Returns undefined if each builder already runs the maximum number of builds
 * (`most`).
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
