import { Slots } from '../../../adapters/http/slots.ts'
import { PlatformError } from '../http/platform-error.ts'

/** Maximum number of namespaces that are read at the same time for one request. */
const TOGETHER = 6

/** The result of reading several namespaces. */
export interface ReadNamespaces<T> {
  /** The results by the name of the namespace. */
  readonly found: ReadonlyMap<string, T>
  /** Number of namespaces that could not be read, not counting namespaces that the caller may not read. */
  readonly failed: number
}

/** Reads several namespaces, a few at a time. A failure of one namespace does not affect the others. */
export async function eachNamespace<T>(
  names: readonly string[],
  read: (name: string) => Promise<T>,
): Promise<ReadNamespaces<T>> {
  const slots = new Slots(TOGETHER)
  const found = new Map<string, T>()
  let failed = 0
  const one = async (name: string) => {
    try {
      found.set(name, await slots.run(undefined, () => read(name)))
    } catch (error) {
      if (!(error instanceof PlatformError) || ![403, 404].includes(error.status)) failed++
    }
  }
  await Promise.all(names.map(one))
  return { found, failed }
}
