import { UsageError } from '../compiler/diagnostics/user-error.ts'
import { parseImageReference } from '../compiler/values/images/image-reference.ts'
import type { Parsed } from '../compiler/values/parsed.ts'
import { parseRepositoryFolder } from '../compiler/values/repository-names.ts'

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/

/** Returns a check that accepts a text if `parse` does, and otherwise throws a UsageError. */
export const parsedBy =
  (parse: (text: string) => Parsed<unknown>) =>
  (value: string, option: string): void => {
    const read = parse(value)
    if (read.ok) return
    const { reason, hint } = read
    throw new UsageError(`\`${option}\` is \`${value}\`: ${reason}`, { ...(hint !== undefined && { hint }) })
  }

/** Throws a UsageError for a path that is outside the repository, or refers to git's own files. */
export const folderPath = parsedBy(parseRepositoryFolder)

/** Throws a UsageError for an invalid registry. */
export function registryPath(value: string, option: string): void {
  const reference = parseImageReference(`${value}/image`)
  // A reference may have uppercase letters in its host, but container engines then treat its first part as a folder.
  if (reference.ok && !/[A-Z]/.test(value) && reference.value.tag === undefined && reference.value.digest === undefined)
    return
  throw new UsageError(`\`${option}\` is \`${value}\``, {
    hint: 'write a host and a path in lower case, without scheme and tag, such as `registry.example.com/team`',
  })
}

/** Throws a UsageError for an invalid DNS name. */
export function dnsName(value: string, option: string): void {
  if (value.length <= 253 && value.split('.').every(label => LABEL.test(label) && label.length <= 63)) return
  throw new UsageError(`\`${option}\` is \`${value}\`, which is not a valid DNS name`, {
    hint: 'use lower-case labels of letters, digits and `-`, joined by dots, such as `dev.example.com`',
  })
}

/**
 * Throws a UsageError for a text that cannot name an environment. Names of branches are accepted, because names are
 * converted to DNS labels. Paths such as `../shop`, options, and texts without letters or digits are mistakes.
 */
export function environmentName(value: string, option: string): void {
  if (/^[a-z0-9][^\s\p{Cc}]*$/iu.test(value) && !value.includes('..')) return
  throw new UsageError(`\`${option}\` is \`${value}\`, which is not a valid name of an environment`, {
    hint: 'begin with a letter or digit, without spaces and `..`, such as `shop` or `feature/login`',
  })
}

/** Throws a UsageError for an invalid DNS label; `option` names its source. */
export function dnsLabel(value: string, option: string): void {
  if (LABEL.test(value) && value.length <= 63) return
  throw new UsageError(`\`${option}\` is \`${value}\`, which is not a valid DNS label`, {
    hint: 'use lower-case letters, digits and `-`, at most 63, beginning and ending with a letter or digit',
  })
}
