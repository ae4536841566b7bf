import { resolve } from 'node:path'
import { readFile } from '../../../adapters/files/read-file.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import { configHome } from '../../../project/contexts/home.ts'
import type { LocalContext } from '../../../project/session.ts'
import { type Sealed, sealSecret } from '../../encryption/seal.ts'
import { readSealingCertificate, type SealingCertificate } from '../../encryption/seal-certificate.ts'
import { readSealingKey, type SealingKey } from '../../encryption/sealing-key.ts'
import type { Repository } from '../../repository/publication.ts'
import type { CompiledForRepository } from '../compile/compile-for-repository.ts'
import type { PublishEvent } from '../events.ts'
import { type Encrypted, isKeyAnew, type KeptSecret, keptIn, markOfKey } from './kept-secrets.ts'
import { openSecrets } from './secret-check.ts'

/** Certificate and keys that seal the Secrets of an environment. */
export interface Sealer {
  readonly certificate: SealingCertificate
  readonly key: SealingKey
  /** Names of Secrets that are not sealed. */
  readonly open: ReadonlySet<string>
}

/**
 * Returns the certificate and the key of an environment whose Secrets are sealed; undefined for other environments.
 * Throws a UserError if the certificate or the key is invalid or cannot be read.
 */
export async function sealerOf(
  { workspace, on }: LocalContext<PublishEvent>,
  compiled: Pick<CompiledForRepository, 'plan' | 'secretRules'>,
  folder: string,
): Promise<Sealer | undefined> {
  const { secretRules: rules } = compiled
  if (rules?.backend !== 'sealed' || !rules.certificate) return undefined
  const shown = rules.certificate.value
  const content = readFile(resolve(folder, shown))
  if (content.kind !== 'file') throw new UserError(`cannot read the certificate \`${shown}\``, { hint: HINT })
  const text = new TextDecoder().decode(content.bytes)
  const { certificate, warnings } = readSealingCertificate(text, shown, new Date())
  for (const text of warnings) on({ type: 'warning', text })
  const key = await readSealingKey({ env: workspace.env, home: configHome(workspace) })
  return { certificate, key, open: openSecrets(compiled) }
}

const HINT = 'fetch it with `kubeseal --fetch-cert`, and keep it beside devctl.yml: it is not secret'

/**
 * Returns the manifests with SealedSecrets in place of Secrets. Unchanged values keep the result of an earlier run, in
 * the folder at `path` or on the branch of its pull request. In the result, `isAnew` is true if the Secrets on the
 * branch were sealed with another user's key, so that devctl cannot tell which values are unchanged.
 */
export async function sealManifests(
  manifests: readonly Manifest[],
  { certificate, key, open }: Sealer,
  there: Repository,
  path: string,
): Promise<Encrypted> {
  const { onBranch, onRequest } = await keptIn(there, path, 'SealedSecret')
  const marks: Record<string, string> = markOfKey(key)
  const sealed = manifests.map(manifest => {
    const { object } = manifest
    const { name } = object.metadata
    if (object.kind !== 'Secret' || open.has(name)) return manifest
    const [first, second] = [onBranch, onRequest].map(known =>
      sealSecret(object, certificate, { key: key.key, previous: sealedOf(known.get(name)) }),
    ) as [Sealed, Sealed] // map keeps the length
    // A value that is unchanged on the branch is not a change; a value that is unchanged in the request does not change
    // the request.
    const known = onBranch.get(name)?.marks ?? {}
    const encrypted = Object.entries(first.marks).map(([entry, mark]) => {
      const from = known[entry] === mark || !onRequest.has(name) ? first : second
      return [entry, encryptedOf(from)[entry]] as const
    })
    for (const [entry, mark] of Object.entries(first.marks)) marks[`${name}/${entry}`] = mark
    const spec = { ...(first.manifest.spec as object), encryptedData: Object.fromEntries(encrypted) } // what sealSecret makes
    return { ...manifest, object: { ...first.manifest, spec } }
  })
  return { manifests: sealed, marks, isAnew: isKeyAnew(there, path, key) }
}

const encryptedOf = ({ manifest }: Sealed) =>
  (manifest.spec as { readonly encryptedData: Readonly<Record<string, string>> }).encryptedData // what sealSecret makes

const sealedOf = (kept: KeptSecret | undefined) => kept && { sealed: kept.encrypted, marks: kept.marks }
