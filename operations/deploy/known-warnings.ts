import { createHash } from 'node:crypto'
import { serviceFinder } from '../../builds/failures/remarks.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import type { KnownSecrets } from '../../compiler/values/secrets/known-secrets.ts'
import { readRecord } from '../../environment/record/record.ts'
import type { Session } from '../../project/session.ts'

/** Maximum number of warnings in the record of an environment. */
const MOST = 1000

/**
 * Warnings of a deploy: those that the last deploy of the environment has already printed, and the hashes of all of
 * them.
 */
export interface KnownWarnings {
  /** Warnings that the last deploy had as well. */
  readonly seen: ReadonlySet<Diagnostic>
  /** Hashes of all warnings, for the record of this deploy. */
  readonly hashes: readonly string[]
}

/**
 * Compares the warnings of a deploy with the hashes in the environment's record. After a partial deploy, the record
 * also keeps the hashes of the services that were not deployed.
 */
export async function knownWarnings(
  { cluster, namespace, signal }: Pick<Session, 'cluster' | 'namespace' | 'signal'>,
  environment: string,
  hashes: ReadonlyMap<Diagnostic, string>,
  isPart: boolean,
): Promise<KnownWarnings> {
  const record = await readRecord(cluster, environment, namespace, { signal })
  const last = new Set(record?.warnings)
  const seen = new Set([...hashes].flatMap(([one, hash]) => (last.has(hash) ? [one] : [])))
  const all = new Set([...hashes.values(), ...(isPart ? last : [])])
  return { seen, hashes: [...all].sort().slice(0, MOST) }
}

/**
 * Hashes the warnings and notes by code, text and service, so that the hash does not change if a warning only moves to
 * another line. Secrets in the texts are masked, as in the printed texts.
 */
export function hashWarnings(
  diagnostics: readonly Diagnostic[],
  services: Tree | undefined,
  secrets: KnownSecrets | undefined,
): ReadonlyMap<Diagnostic, string> {
  const serviceAt = serviceFinder(services)
  const counts = new Map<string, number>()
  const hashes = new Map<Diagnostic, string>()
  for (const one of diagnostics) {
    if (one.severity === 'error') continue
    const message = secrets?.mask(one.message) ?? one.message
    const text = JSON.stringify([one.severity, one.code, (one.span && serviceAt(one.span)) ?? '', message])
    const number = (counts.get(text) ?? 0) + 1
    counts.set(text, number)
    hashes.set(one, createHash('sha256').update(`${text} ${number}`).digest('hex').slice(0, 12))
  }
  return hashes
}
