import { placeFor } from './registry-access.ts'

/** Disk usage of the registry in bytes, as its sidecar container measured it. */
export interface RegistryDisk {
  readonly size: number
  readonly free: number
  /** Time of the measurement, in seconds since 1970. */
  readonly at: number
  /**
   * Size in bytes of the images of each namespace, by path. A blob that several namespaces share counts for each of
   * them.
   */
  readonly places: ReadonlyMap<string, number>
}

/** Default maximum share of the disk for the images of one person's namespaces. */
export const REGISTRY_SHARE = 0.2
/** Used share of the disk above which the platform is reported as unhealthy. */
const FULL = 0.85
/** Maximum length of a measurement in characters: enough for tens of thousands of namespaces. */
export const LONGEST_MEASUREMENT = 4 * 1024 * 1024
/** Age from which a measurement is out of date, in seconds. */
const OLD = 900

/** Parses a line that the measuring container logged; undefined if it is invalid. */
export function readRegistryDisk(line: string): RegistryDisk | undefined {
  try {
    const { size, free, at, places } = JSON.parse(line) as Readonly<Record<string, unknown>>
    if (!isCount(size) || !isCount(free) || !isCount(at) || size === 0 || free > size) return undefined
    if (typeof places !== 'object' || places === null || !Object.values(places).every(isCount)) return undefined
    return { size, free, at, places: new Map(Object.entries(places)) }
  } catch {
    return undefined
  }
}

const isCount = (one: unknown): one is number => typeof one === 'number' && Number.isFinite(one) && one >= 0

/** True if the measurement is recent; `now` is in milliseconds. */
export const isFresh = ({ at }: RegistryDisk, now: number): boolean => now / 1000 - at < OLD

interface Owned {
  readonly name: string
  readonly uid?: string
  readonly owner: string
}

/** Returns the total size in bytes of the images in all namespaces of the user `owner`. */
export function usedBy(owner: string, all: Iterable<Owned>, { places }: RegistryDisk): number {
  let used = 0
  for (const { name, uid, owner: of } of all)
    if (of === owner && uid !== undefined) used += places.get(placeFor({ name, uid })) ?? 0
  return used
}

/**
 * Returns the total size in bytes of the images of deleted namespaces. `all` contains the existing namespaces. Images
 * in the path `shared` belong to no namespace and are not counted.
 */
export function leftBehind(all: Iterable<Owned>, { places }: RegistryDisk, shared: string): number {
  const there = new Set([shared])
  for (const { name, uid } of all) if (uid !== undefined) there.add(placeFor({ name, uid }))
  return [...places].reduce((sum, [place, bytes]) => (there.has(place) ? sum : sum + bytes), 0)
}

/** True if the disk is so full that an operator has to act. */
export const isFilling = ({ size, free }: Pick<RegistryDisk, 'size' | 'free'>): boolean => (size - free) / size >= FULL

/** Formats bytes, such as `3.2 GiB`. */
export const gibibytes = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`

/** Formats a disk's usage, such as `12.0 of 50.0 GiB (24 %)`. */
export const diskText = ({ size, free }: Pick<RegistryDisk, 'size' | 'free'>): string =>
  `${((size - free) / 2 ** 30).toFixed(1)} of ${gibibytes(size)} (${Math.round(((size - free) / size) * 100)} %)`
