import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { Tree } from '../../../compiler/text/tree.ts'
import type { KnownSecrets } from '../../../compiler/values/secrets/known-secrets.ts'
import { secretShapes } from '../../../compiler/values/secrets/secret-shapes.ts'
import { type FoundShape, scanForSecrets } from '../../encryption/secret-scan.ts'
import type { CompiledForRepository } from '../compile/compile-for-repository.ts'

/**
 * Scans for secrets all text that would be committed. The compiler rejects secrets at their positions; this scan finds
 * the secrets that the compiler missed. Throws a UserError, which does not contain the secret.
 */
export function refuseSecrets(
  folders: readonly { readonly path: string; readonly files: ReadonlyMap<string, string> }[],
  compiled: CompiledForRepository,
  secrets: KnownSecrets | undefined,
): void {
  const files = new Map(
    folders.flatMap(({ path, files }) => [...files].map(([file, text]) => [`${path}/${file}`, text] as const)),
  )
  const known = publicTexts(compiled)
  const found = scanForSecrets(files, {
    shapes: text => [...secretShapes(text), ...knownIn(text, secrets)],
    // Host names are lower case.
    isPublic: stretch => known.some(text => text.includes(stretch.toLowerCase())),
  })
  const hasOpen = openSecrets(compiled).size > 0
  const left = found.filter(({ what }) => !(hasOpen && what === 'a Secret with values'))
  if (left.length === 0) return
  throw new UserError('the manifests contain secrets; nothing was committed', {
    notes: left.slice(0, 10).map(({ path, line, what }) => `${path}:${line} ${what}`),
    hint: 'let the value come from a Secret, or list its path under `secrets.public` of the environment (docs/gitops/repository.md)',
  })
}

/**
 * Scans texts that were not compiled: the file of a controller, and its commit message. `texts` contains each text by
 * its name. Throws a UserError if a text contains a secret.
 */
export function refuseSecretsIn(texts: ReadonlyMap<string, string>, secrets: KnownSecrets | undefined): void {
  const found = scanForSecrets(texts, { shapes: text => [...secretShapes(text), ...knownIn(text, secrets)] })
  if (found.length === 0) return
  throw new UserError('the manifests contain secrets; nothing was written', {
    notes: found.slice(0, 10).map(({ path, line, what }) => `${path}:${line} ${what}`),
    hint: 'use variables that are not secret in names and addresses',
  })
}

/** True if a text contains a value that is known to be secret. */
export const holdsSecret = (text: string, secrets: KnownSecrets | undefined): boolean =>
  !knownIn(text, secrets).next().done

/**
 * Finds known secret values in a text. Only considers values that are long or contain more than lower-case letters,
 * because others may be ordinary words.
 */
function* knownIn(text: string, secrets: KnownSecrets | undefined): Generator<FoundShape> {
  for (const { start, end } of secrets?.strictMasker.find(text) ?? [])
    if (end - start >= 12 || (end - start >= 6 && /[^a-z]/.test(text.slice(start, end))))
      yield { what: 'the value of a secret', start, end }
}

/** Returns the names of Secrets that the environment lists as public, which are written unencrypted. */
export function openSecrets({
  plan,
  secretRules,
}: Pick<CompiledForRepository, 'plan' | 'secretRules'>): ReadonlySet<string> {
  const listed = new Set(secretRules?.public.map(({ value }) => value))
  const open = plan.secrets.filter(({ path }) => path !== undefined && listed.has(path))
  return new Set(open.map(({ name }) => name))
}

/** Returns all texts below the paths that the environment lists as public, in lower case. */
function publicTexts({ secretRules, tree, plan }: CompiledForRepository): readonly string[] {
  const listed = new Set(secretRules?.public.map(({ value }) => value))
  const written = [...listed].flatMap(path => at(tree, path).flatMap(textsBelow))
  const files = plan.configMaps
    .filter(({ path }) => path !== undefined && listed.has(path))
    .flatMap(({ data }) => Object.values(data).map(bytes => new TextDecoder().decode(bytes)))
  return [...written, ...files].map(text => text.toLowerCase())
}

/** Returns the values that a path can refer to. Keys may contain dots, and list items are referred to by index. */
function at(tree: Tree | undefined, path: string): readonly Tree[] {
  if (tree?.kind === 'map')
    return [...tree.entries].flatMap(([key, { value }]) =>
      path === key ? [value] : path.startsWith(`${key}.`) ? at(value, path.slice(key.length + 1)) : [],
    )
  if (tree?.kind !== 'seq') return []
  const [, index, rest] = /^(\d+)(?:\.(.+))?$/.exec(path) ?? []
  const item = index === undefined ? undefined : tree.items[Number(index)]
  return item && rest !== undefined ? at(item, rest) : item ? [item] : []
}

function textsBelow(tree: Tree): readonly string[] {
  switch (tree.kind) {
    case 'map':
      return [...tree.entries].flatMap(([key, { value }]) => [key, ...textsBelow(value)])
    case 'seq':
      return tree.items.flatMap(textsBelow)
    case 'scalar':
      return [String(tree.value)]
  }
}
