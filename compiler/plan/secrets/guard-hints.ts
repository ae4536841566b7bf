import type { SecretFinding } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { cutName, slug } from '../object-names.ts'
import type { SecretPlan } from '../plan.ts'
import { objectKey } from '../storage/host-files.ts'
import type { GuardedText } from './guarded-texts.ts'
import { variablePath } from './secret-sources.ts'
import type { SecretUse } from './secret-uses.ts'

/**
 * Returns the finding about a text. If the text is the value of a variable, the finding suggests a Secret that can
 * provide the value.
 */
export function findingOf(
  context: PlanContext,
  { path, variable }: Pick<GuardedText, 'path' | 'variable'>,
): SecretFinding {
  if (!variable) return { path }
  const secret = cutName(`${context.environment.name}-${slug(variable.service) || 'app'}`, 253)
  return { path, source: { secret, key: objectKey(variable.name) } }
}

/** Returns the finding about a Secret that the manifests contain with its data. */
export function findingOfData({ name, path = name, data }: SecretPlan): SecretFinding {
  const [key = 'value'] = Object.keys(data)
  return { path, ...(path.startsWith('secrets.') && { source: { secret: name, key } }) }
}

/** Returns the hint for a text that looks secret. */
export function hintFor(context: PlanContext, one: GuardedText): string {
  const { path, source } = findingOf(context, one)
  if (!source)
    return `move it to a variable or an entry of \`secrets\`, which can come from a Secret; if it is not secret, list it in devctl.yml:\n${publicLines(context, path)}`
  return `take it from a Secret, in devctl.yml:\n${valueLines(context, path, source.secret, source.key)}\nor, if it is not secret:\n${publicLines(context, path)}`
}

/** Returns the hint for the use of a secret value. */
export function hintForUse(context: PlanContext, use: SecretUse): string {
  const { path, origin, span, variable } = use
  if (variable) return hintFor(context, { path, text: '', span, variable })
  const orPublic = `if it is not secret, list it in devctl.yml:\n${publicLines(context, path)}`
  const [, service, key = ''] =
    /^services\.(.+?)\.(command|entrypoint|healthcheck|pre_start|post_start|pre_stop)\b/.exec(path) ?? []
  if (service === undefined)
    return path.startsWith('configs.')
      ? `make the config an entry of \`secrets\`; ${orPublic}`
      : `a Secret cannot be used here: remove the value; ${orPublic}`
  const name = /^`([A-Za-z_]\w*)`$/.exec(origin)?.[1] ?? 'NAME'
  const secret = cutName(`${context.environment.name}-${slug(service) || 'app'}`, 253)
  const lines = valueLines(context, variablePath(service, name), secret, objectKey(name))
  const shell = key === 'healthcheck' ? '`CMD-SHELL`' : 'a shell'
  return `write \`$$${name}\` in ${shell}, with \`environment: [${name}]\` in the service, and take the variable from a Secret, in devctl.yml:\n${lines}\nor, ${orPublic}`
}

/** Returns the hint for a Secret that the manifests contain with its data. */
export function hintForData(context: PlanContext, data: SecretPlan): string {
  const { path, source } = findingOfData(data)
  const first = source
    ? `take it from a Secret in the cluster, in devctl.yml:\n${valueLines(context, path, source.secret, source.key)}`
    : 'make the file an entry of `secrets` and mount that, so that it can come from a Secret in the cluster'
  return `${first}\nor, if it is not secret:\n${publicLines(context, path)}`
}

function valueLines(context: PlanContext, path: string, secret: string, key: string): string {
  return inEnvironment(context, ['values:', `  ${quoted(path)}: {secret: ${quoted(secret)}, key: ${quoted(key)}}`])
}

/** Returns the lines of devctl.yml that list a path as public. */
export function publicLines(context: PlanContext, path: string): string {
  return inEnvironment(context, ['public:', `  - ${quoted(path)}`])
}

function inEnvironment({ options }: PlanContext, lines: readonly string[]): string {
  const head = ['environments:', `  ${quoted(options.manifestEnvironment ?? 'NAME')}:`, '    secrets:']
  return [...head, ...lines.map(line => `      ${line}`)].join('\n')
}

/** Formats a YAML scalar: unquoted if it cannot be misread, otherwise quoted. */
const quoted = (text: string): string =>
  /^[A-Za-z/][\w./-]*$/.test(text) && !/^(?:y|n|yes|no|on|off|true|false|null)$/i.test(text)
    ? text
    : `'${text.replaceAll("'", "''")}'`
