import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { withoutOtherRepository } from '../../../adapters/git/git.ts'
import { withTemporary } from '../../../adapters/git/temporary.ts'
import { parseJson } from '../../../adapters/json/parse-json.ts'
import { runProgram } from '../../../adapters/process/run-program.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { KubernetesObject } from '../../../constructs/manifest.ts'
import type { EncryptedSecret } from './encrypted.schema.ts'
import { encryptedSecret } from './encrypted.validators.ts'
import { isEncryptedText } from './encrypted-text.ts'
import type { ProgramRule } from './rule.ts'

export interface ProgramSurroundings {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

/** Exit status of a shell if the program does not exist. */
const NOT_FOUND = 127

/**
 * Encrypts the values of a Secret with the program `sops`, for keys that only the program can use. The Secret is only
 * passed by standard input. Throws a UserError if the program is missing or fails, and for a rule that leaves a value
 * in plain text or encrypts a field that Kubernetes has to read.
 */
export async function encryptByProgram(
  secret: KubernetesObject,
  { fields, rule }: ProgramRule,
  { env, signal }: ProgramSurroundings,
): Promise<KubernetesObject> {
  const asked = fields.map(field => `\`${field}\``).join(', ')
  const { status, failure, stdout, stderr } = await withTemporary(env, folder => {
    // Contains the rule without its path pattern, because the pattern is for paths of the repository.
    const config = join(folder, 'rules.yaml')
    writeFileSync(config, JSON.stringify({ creation_rules: [rule] }))
    const form = ['--input-type', 'json', '--output-type', 'json']
    const words = ['--config', config, 'encrypt', ...form, '--filename-override', 'secret.json', '/dev/stdin']
    // Node's pipes are sockets, which cannot be opened as `/dev/stdin`.
    return runProgram('sh', ['-c', 'cat | sops "$@"', 'sops', ...words], {
      folder,
      env: withoutOtherRepository(env),
      signal,
      input: { text: JSON.stringify(secret) },
    })
  })
  signal.throwIfAborted()
  if (status === NOT_FOUND || failure?.code === 'ENOENT')
    throw new UserError(`the program \`sops\` is not installed, or not on the PATH, and ${asked} needs it`, {
      hint: 'install it: https://getsops.io, or write a rule with `age` alone for this file',
    })
  if (status !== 0)
    throw new UserError(`\`sops\` could not encrypt the Secret \`${secret.metadata.name}\``, {
      notes: stderr.trim().split('\n').slice(-5),
      hint: `check ${asked} in the rule of \`.sops.yaml\`, and that you have access to the keys`,
    })
  const printed = parseJson(stdout, encryptedSecret)
  if (printed.ok) return checked(printed.value, secret)
  throw new UserError(`\`sops\` did not print the Secret \`${secret.metadata.name}\` as JSON: ${printed.problem}`, {
    hint: 'is the `sops` on the PATH the program of https://getsops.io?',
  })
}

function checked(encrypted: EncryptedSecret, secret: KubernetesObject): KubernetesObject {
  const { sops: _, data, ...rest } = encrypted
  const { data: plain, ...wanted } = JSON.parse(JSON.stringify(secret)) as KubernetesObject
  if (isDeepStrictEqual(rest, wanted) && Object.values(data ?? {}).every(isEncryptedText)) return encrypted
  throw new UserError(`the rule for the Secret \`${secret.metadata.name}\` encrypts more than its values`, {
    hint: 'write `encrypted_regex: ^(data|stringData)$`, instead of other selections',
  })
}
