import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { csvFields } from '../../compiler/values/csv-fields.ts'
import type { Option } from './option.ts'

/**
 * `--build-arg NAME=VALUE`, repeatable. If only a name is given, its value is undefined. Messages do not show the
 * values because they may be secret.
 */
export const buildArguments: Option<Readonly<Record<string, string | undefined>> | undefined> = {
  flags: '--build-arg <name=value>',
  description: 'set a build argument; a name without a value takes it from the environment; may be repeated',
  isRepeatable: true,
  parse(text, previous) {
    const at = text.indexOf('=')
    const name = at < 0 ? text : text.slice(0, at)
    if (!/^[A-Za-z_][\w.-]*$/.test(name))
      throw new UsageError('`--build-arg` is not an argument', { hint: 'write it as `NAME=VALUE`' })
    return { ...previous, [name]: at < 0 ? undefined : text.slice(at + 1) }
  },
}

/** A secret from `--secret`: a file or an environment variable. */
export interface SecretOption {
  readonly id: string
  readonly file?: string
  readonly variable?: string
}

/**
 * `--secret id=ID,src=PATH` or `id=ID,env=NAME`, repeatable. With only an id, the value is read from the environment
 * variable of that name, or, if the variable is not set, from the file of that name.
 */
export const buildSecrets: Option<readonly SecretOption[] | undefined> = {
  flags: '--secret <id=id,src=path>',
  description:
    'give a secret to build steps that mount it, from a file (`src=PATH`) or a variable (`env=NAME`); may be repeated',
  isRepeatable: true,
  parse(text, previous) {
    const fields = new Map(
      (csvFields(text) ?? []).map(field => {
        const at = field.indexOf('=')
        return [field.slice(0, Math.max(at, 0)), field.slice(at + 1)] as const
      }),
    )
    const id = fields.get('id')
    const type = fields.get('type')
    const source = fields.get('src') ?? fields.get('source')
    const env = fields.get('env')
    const unknown = [...fields.keys()].find(key => !['id', 'src', 'source', 'env', 'type'].includes(key))
    const isKnownType = type === undefined || type === 'env' || type === 'file'
    const isFile = type === 'file' || (type === undefined && source !== undefined)
    if (!id || unknown !== undefined || !isKnownType || (env !== undefined && (isFile || source !== undefined)))
      throw new UsageError('`--secret` is not a secret', { hint: 'write it as `id=ID,src=PATH` or `id=ID,env=NAME`' })
    const variable = env ?? (type === 'env' ? (source ?? id) : undefined)
    return [
      ...(previous ?? []),
      { id, ...(isFile && { file: source ?? id }), ...(variable !== undefined && { variable }) },
    ]
  },
}
