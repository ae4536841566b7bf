import { posix } from 'node:path'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { SOPS_CONFIG } from './config-name.ts'
import { goPattern } from './go-pattern.ts'

/** Recipients of a file, and the values to encrypt. */
export interface SopsRule {
  /** Public keys of age recipients. */
  readonly age: readonly string[]
  /** Pattern of the document keys whose values are encrypted. */
  readonly encryptedRegex: string
  /** Rule for the program `sops`; set if the rule needs something that only the program can do. */
  readonly program?: ProgramRule
}

/** A rule for the program `sops`, without the pattern that selects the files. */
export interface ProgramRule {
  /** Fields of the rule that need the program. */
  readonly fields: readonly string[]
  readonly rule: Readonly<Record<string, unknown>>
}

/**
 * Pattern that keeps a file readable for kustomize and Flux without a key, because only the values of a Secret are
 * encrypted (https://fluxcd.io/flux/guides/mozilla-sops/).
 */
export const SECRET_VALUES = '^(data|stringData)$'

/** Native age recipients, as opposed to plugin recipients and SSH keys. */
const NATIVE = /^age1(pq1)?[02-9ac-hj-np-z]+$/

const AGE_ONLY = new Set(['path_regex', 'age', 'encrypted_regex'])

/**
 * Returns the repository's rule for a file: the first one in the nearest `.sops.yaml` whose `path_regex` matches
 * (https://getsops.io/docs/#using-sopsyaml-conf-to-select-kms-pgp-and-age-for-new-files). `path` and the argument of
 * `read` are relative to the root of the repository. Undefined if no rules exist. Throws a UserError if no rule
 * matches, or if a rule is invalid.
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
  const fields = Object.keys(rule).filter(key => !AGE_ONLY.has(key) && isSaid(rule[key]))
  const { age, encrypted_regex: regex } = rule
  const recipients = (Array.isArray(age) ? age : String(age ?? '').split(',')).map(one => String(one).trim())
  const named = [...new Set(recipients.filter(one => one !== ''))]
  const encryptedRegex = isSaid(regex) ? String(regex) : SECRET_VALUES
  if (fields.length > 0 || named.some(one => !NATIVE.test(one)))
    return {
      age: named,
      encryptedRegex,
      program: programRule(rule, fields.length > 0 ? fields : ['age'], encryptedRegex),
    }
  if (named.length === 0) throw refuse(config, `names no recipient for \`${path}\``, 'add `age: age1…` to its rule')
  return { age: named, encryptedRegex }
}

function programRule(rule: Rule, fields: readonly string[], encryptedRegex: string): ProgramRule {
  const { path_regex: _, ...rest } = rule
  const selects = Object.keys(rule).some(key => /^(un)?encrypted_/.test(key) && isSaid(rule[key]))
  return { fields, rule: selects ? rest : { ...rest, encrypted_regex: encryptedRegex } }
}

async function rulesIn(text: string, config: string): Promise<readonly Rule[]> {
  const { load, YAMLException } = await import('js-yaml')
  let content: unknown
  try {
    content = load(text)
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error
    throw refuse(config, `is not valid YAML: ${error.reason}`, 'correct it in the repository')
  }
  const rules = (content as { readonly creation_rules?: unknown } | null | undefined)?.creation_rules
  return Array.isArray(rules) ? rules.filter((one): one is Rule => typeof one === 'object' && one !== null) : []
}

/** Returns true if a path matches a `path_regex`; a rule without one is for all paths. */
function fits(pattern: unknown, path: string, config: string): boolean {
  if (!isSaid(pattern)) return true
  try {
    return goPattern(String(pattern)).test(path)
  } catch {
    throw refuse(
      config,
      `has a \`path_regex\` that devctl cannot read: \`${pattern}\``,
      'use only what regular expressions of Go and JavaScript have in common, for example `[a-z]` for `[[:lower:]]`',
    )
  }
}

const isSaid = (value: unknown) => value !== undefined && value !== null && value !== '' && value !== false

const refuse = (config: string, why: string, hint: string) =>
  new UserError(`\`${config}\` of the repository ${why}`, { hint })
