import type { Disk } from './disk.ts'
import { TOO_LITTLE_ROOM } from './problems.ts'

/** Free space that files of a container must leave on a disk, in bytes; 5 % of the disk if that is less. */
const SPARE = 1e9

/** Returns the reason why a file of the container is not downloaded; undefined if the disk has enough space for it. */
export function spaceProblem(disk: Disk, folder: string, size: number): string | undefined {
  const space = disk.space?.(folder)
  if (!space || space.free - size >= Math.min(SPARE, space.size / 20)) return undefined
  return `${TOO_LITTLE_ROOM} for ${Math.ceil(size / 1e6)} MB`
}
