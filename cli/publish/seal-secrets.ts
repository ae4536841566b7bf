import { resolve } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject, Manifest } from '../../constructs/manifest.ts'
import { devctlHome } from '../../contexts/home.ts'
import { type SealMarks, sealSecret } from '../../gitops/seal.ts'
import { readSealingCertificate, type SealingCertificate } from '../../gitops/seal-certificate.ts'
import { readSealingKey, type SealingKey } from '../../gitops/sealing-key.ts'
import type { There } from '../../gitops/tree/there.ts'
import type { Io } from '../io.ts'
import { objectsOf } from '../manifest-files.ts'
import { readFile } from '../read-file.ts'
import type { CompiledForRepository } from './compile-for-repository.ts'
import { openSecrets } from './last-look.ts'

/** What seals the Secrets of an environment. */
export interface Sealer {
  readonly certificate: SealingCertificate
  readonly key: SealingKey
  /** Names of Secrets that stay as they are. */
  readonly open: ReadonlySet<string>
}

/** The certificate and the key of an environment whose Secrets are sealed; undefined for others. Throws a UserError. */
export async function sealerOf(
  io: Io,
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
  for (const warning of warnings) io.stderr.write(`warning: ${warning}\n`)
  const key = await readSealingKey({ env: io.env, home: devctlHome(io) })
  return { certificate, key, open: openSecrets(compiled) }
}

const HINT = 'fetch it with `kubeseal --fetch-cert`, and keep it beside devctl.yml: it is not secret'

/** The manifests with SealedSecrets in place of Secrets; values that are as they were keep what an earlier run has made of them, in the folder at `path`. */
export async function sealManifests(
  manifests: readonly Manifest[],
  { certificate, key, open }: Sealer,
  there: There,
  path: string,
): Promise<{ readonly manifests: readonly Manifest[]; readonly marks: SealMarks; readonly isAnew: boolean }> {
  const lock = there.lock(path)
  const before = lock?.facts?.sealed ?? {}
  const old = await sealedIn(there, path, [...(lock?.files.keys() ?? [])])
  const marks: Record<string, string> = {}
  const sealed = manifests.map(manifest => {
    const { object } = manifest
    const { name } = object.metadata
    if (object.kind !== 'Secret' || open.has(name)) return manifest
    const previous = old.get(name)
    const own = Object.entries(before).filter(([mark]) => mark.startsWith(`${name}/`))
    const result = sealSecret(object, certificate, {
      key: key.key,
      ...(previous && {
        previous: {
          sealed: previous,
          marks: Object.fromEntries(own.map(([mark, value]) => [mark.slice(name.length + 1), value])),
        },
      }),
    })
    for (const [one, mark] of Object.entries(result.marks)) marks[`${name}/${one}`] = mark
    return { ...manifest, object: result.manifest }
  })
  return { manifests: sealed, marks, isAnew: key.isNew && old.size > 0 }
}

/** The SealedSecrets among the files of a folder, by name. */
async function sealedIn(
  there: There,
  path: string,
  files: readonly string[],
): Promise<ReadonlyMap<string, KubernetesObject>> {
  const texts = files.flatMap(file => {
    const text = there.read(path === '.' ? file : `${path}/${file}`)
    return text?.includes('kind: SealedSecret') ? [[file, text] as const] : []
  })
  const objects = await objectsOf(new Map(texts))
  return new Map(objects.filter(({ kind }) => kind === 'SealedSecret').map(object => [object.metadata.name, object]))
}
