import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { CI_KINDS, type CiKind, type CiRule, type CiTrust, isCiRule } from '../rules/accounts/ci-trust.ts'
import { namespaceNameProblem } from '../rules/names.ts'

/** Token issuers of the public servers, by kind of CI system. The issuers of other servers have to be named. */
const PUBLIC: Readonly<Partial<Record<CiKind, string>>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
}

const KEYS = ['repository', 'owner', 'ref', 'event', 'prefix'] as const
const EXAMPLE = 'write `github,repository=123456,prefix=shop-`; docs/platform/install.md, "Logging in", has more'

/**
 * Returns the CI systems whose jobs get tokens, from options such as `github,repository=123456,prefix=shop-`, each of
 * which is one rule. Without options, the installed rules stay; `-` removes all of them. Throws a UsageError for an
 * incomplete rule.
 */
export function wantedCi(options: readonly string[] | undefined, installed: unknown): unknown {
  if (options === undefined) return installed
  if (options.length === 1 && options[0] === '-') return []
  const trusted = new Map<string, { readonly kind: CiKind; readonly issuer: string; readonly rules: CiRule[] }>()
  for (const option of options) {
    const { kind, issuer, rule } = toRule(option)
    const key = `${kind} ${issuer}`
    const known = trusted.get(key)
    if (known) known.rules.push(rule)
    else trusted.set(key, { kind, issuer, rules: [rule] })
  }
  return [...trusted.values()] satisfies readonly CiTrust[]
}

function toRule(option: string): { readonly kind: CiKind; readonly issuer: string; readonly rule: CiRule } {
  const [system = '', ...parts] = option.split(',')
  const [name, url] = split(system)
  const kind = CI_KINDS.find(one => one === name)
  const known = CI_KINDS.map(one => `\`${one}\``).join(', ')
  if (!kind) throw refuse(option, `\`${name}\` is none of ${known}`)
  const issuer = url ?? PUBLIC[kind]
  if (issuer === undefined) throw refuse(option, 'which server?', `write \`${kind}=https://git.example.com\``)
  if (!URL.canParse(issuer) || !/^https?:$/.test(new URL(issuer).protocol))
    throw refuse(option, `\`${issuer}\` is no URL`)
  const rule: Record<string, string> = {}
  for (const part of parts) {
    const [key, value] = split(part)
    if (!KEYS.some(one => one === key) || value === undefined || value === '')
      throw refuse(option, `\`${part}\` is none of ${KEYS.map(one => `\`${one}=…\``).join(', ')}`)
    if (Object.hasOwn(rule, key)) throw refuse(option, `\`${key}\` is there twice`)
    rule[key] = value
  }
  if (!isCiRule(rule))
    throw refuse(option, 'a rule needs `repository` or `owner`, by number, and a `prefix` that ends with `-`')
  if (namespaceNameProblem(`${rule.prefix}x`))
    throw refuse(option, `names that begin with \`${rule.prefix}\` are reserved`, 'choose another prefix')
  return { kind, issuer, rule }
}

function split(text: string): readonly [string, string | undefined] {
  const at = text.indexOf('=')
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

const refuse = (option: string, why: string, hint = EXAMPLE): UsageError =>
  new UsageError(`\`--ci ${option}\`: ${why}`, { hint })
