import { posix } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { SOPS_CONFIG } from './config-name.ts'

/** For whom a file is encrypted, and what of it. */
export interface SopsRule {
  /** Public keys of age. */
  readonly age: readonly string[]
  /** Which keys of a document have values that are encrypted. */
  readonly encryptedRegex: string
}

/** What kustomize and Flux can read without a key: only the values of a Secret are encrypted (https://fluxcd.io/flux/guides/mozilla-sops/). */
export const SECRET_VALUES = '^(data|stringData)$'

const AGE_ONLY = new Set(['path_regex', 'age', 'encrypted_regex'])

/**
 * What the rules of a repository say of a file: the first rule whose `path_regex` fits, of the nearest `.sops.yaml` (https://getsops.io/docs/#using-sopsyaml-conf-to-select-kms-pgp-and-age-for-new-files).
 * `path` and what `read` takes are from the root of the repository. Undefined where there are no rules. Throws a UserError for rules that do not fit, and for what devctl does not encrypt for.
 */
export async function sopsRuleFor(
  path: string,
  read: (path: string) => string | undefined,
): Promise<SopsRule | undefined> {
  for (let folder = posix.dirname(path); ; folder = posix.dirname(folder)) {
    const config = posix.join(folder, SOPS_CONFIG)
    const text = read(config)
    if (text !== undefined) return ruleIn(text, config, posix.relative(folder, path))
    if (folder === '.') return undefined
  }
}

type Rule = Readonly<Record<string, unknown>>

async function ruleIn(text: string, config: string, path: string): Promise<SopsRule> {
  const rule = (await rulesIn(text, config)).find(({ path_regex: pattern }) => fits(pattern, path, config))
  if (!rule) throw refuse(config, `has no rule for \`${path}\``, `add one: \`- path_regex: .*\\.yaml$\`, with \`age\``)
  const more = Object.keys(rule).filter(key => !AGE_ONLY.has(key) && isSaid(rule[key]))
  if (more.length > 0)
    throw refuse(
      config,
      `asks for ${more.map(key => `\`${key}\``).join(', ')} for \`${path}\`: devctl encrypts for age, by \`encrypted_regex\``,
      `write a rule with \`age\` for this file, or list recipients as \`age\` under \`secrets\` of the environment, which counts for more`,
    )
  const { age, encrypted_regex: regex } = rule
  const recipients = (Array.isArray(age) ? age : String(age ?? '').split(',')).map(one => String(one).trim())
  const named = [...new Set(recipients.filter(one => one !== ''))]
  if (named.length === 0) throw refuse(config, `names no recipient for \`${path}\``, 'add `age: age1…` to its rule')
  return { age: named, encryptedRegex: isSaid(regex) ? String(regex) : SECRET_VALUES }
}

async function rulesIn(text: string, config: string): Promise<readonly Rule[]> {
  const { load, YAMLException } = await import('js-yaml')
  let content: unknown
  try {
    content = load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    throw refuse(config, `is not valid YAML: ${error.reason}`, 'put it right in the repository')
  }
  const rules = (content as { readonly creation_rules?: unknown } | null | undefined)?.creation_rules
  return Array.isArray(rules) ? rules.filter((one): one is Rule => typeof one === 'object' && one !== null) : []
}

/** Go's patterns, as far as they are JavaScript's; flags at the beginning are the usual difference. */
function fits(pattern: unknown, path: string, config: string): boolean {
  if (!isSaid(pattern)) return true
  const [, flags = '', body = ''] = /^(?:\(\?([ims]+)\))?([\s\S]*)$/.exec(String(pattern))!
  try {
    return new RegExp(body, flags).test(path)
  } catch {
    throw refuse(config, `has a \`path_regex\` that devctl cannot read: \`${pattern}\``, 'write it more simply')
  }
}

const isSaid = (value: unknown) => value !== undefined && value !== null && value !== '' && value !== false

const refuse = (config: string, why: string, hint: string) =>
  new UserError(`\`${config}\` of the repository ${why}`, { hint })
