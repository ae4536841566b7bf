import { posix } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Manifest } from '../../../constructs/manifest.ts'
import { configHome } from '../../../project/contexts/home.ts'
import type { Workspace } from '../../../project/workspace.ts'
import { readSealingKey, type SealingKey } from '../../encryption/sealing-key.ts'
import type { ProgramSurroundings } from '../../encryption/sops/program.ts'
import { SECRET_VALUES, type SopsRule, sopsRuleFor } from '../../encryption/sops/rule.ts'
import { sopsSecret } from '../../encryption/sops/secret.ts'
import { layoutPath } from '../../repository/layout/layout.ts'
import type { Repository } from '../../repository/publication.ts'
import type { CompiledForRepository } from '../compile/compile-for-repository.ts'
import type { Destination } from '../target/destination.ts'
import { type Encrypted, isKeyAnew, keptIn, markOfKey } from './kept-secrets.ts'
import { openSecrets } from './secret-check.ts'

/** Settings for encrypting the Secrets of an environment with SOPS. */
export interface Sops {
  /**
   * Recipients that the environment names. If empty, the recipients come from the rules of the repository
   * (`.sops.yaml`).
   */
  readonly age: readonly string[]
  /** Key for computing the marks. */
  readonly key: SealingKey
  /** Names of Secrets that are not encrypted. */
  readonly open: ReadonlySet<string>
}

/**
 * Returns the SOPS settings of an environment; undefined if SOPS does not encrypt its Secrets. Throws a UserError as
 * `readSealingKey` does.
 */
export async function sopsOf(
  workspace: Workspace,
  compiled: Pick<CompiledForRepository, 'plan' | 'secretRules'>,
): Promise<Sops | undefined> {
  const { secretRules: rules } = compiled
  if (rules?.backend !== 'sops') return undefined
  const key = await readSealingKey({ env: workspace.env, home: configHome(workspace) })
  return { age: rules.age.map(({ value }) => value), key, open: openSecrets(compiled) }
}

/**
 * Returns the manifests with Secrets encrypted by SOPS. An unchanged Secret keeps the result of an earlier run, in the
 * folder or on the branch of its pull request. Throws a UserError if neither the environment nor the repository names
 * recipients.
 */
export async function sopsManifests(
  manifests: readonly Manifest[],
  { age, key, open }: Sops,
  there: Repository,
  { path, layout, env, signal }: Pick<Destination, 'path' | 'layout'> & ProgramSurroundings,
): Promise<Encrypted> {
  const { onBranch, onRequest } = await keptIn(there, path, 'Secret')
  const marks: Record<string, string> = markOfKey(key)
  const now = new Date()
  const made: Manifest[] = []
  for (const manifest of manifests) {
    const { object } = manifest
    const { name } = object.metadata
    if (object.kind !== 'Secret' || open.has(name)) {
      made.push(manifest)
      continue
    }
    const rule = await ruleFor(age, posix.join(path, layoutPath(manifest, layout)), there)
    const previous = [onBranch.get(name), onRequest.get(name)].filter(one => one !== undefined)
    const encrypted = await sopsSecret(object, { rule, key: key.key, now, previous, env, signal })
    for (const [entry, mark] of Object.entries(encrypted.marks)) marks[`${name}/${entry}`] = mark
    made.push({ ...manifest, object: encrypted.manifest })
  }
  return { manifests: made, marks, isAnew: isKeyAnew(there, path, key) }
}

async function ruleFor(age: readonly string[], path: string, there: Repository): Promise<SopsRule> {
  if (age.length > 0) return { age: [...new Set(age)], encryptedRegex: SECRET_VALUES }
  const rule = await sopsRuleFor(path, file => there.read(file))
  if (rule) return rule
  throw new UserError('no recipients for SOPS: the repository has no `.sops.yaml`', {
    hint: 'add one to the repository, or list recipients as `age` under `secrets` of the environment: `age: [age1…]`',
  })
}
