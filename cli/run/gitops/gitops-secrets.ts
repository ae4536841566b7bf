import { failureSummary, plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../../compiler/diagnostics/user-error.ts'
import { isDnsSubdomain } from '../../../compiler/values/dns-name.ts'
import { type AnswerOutcome, answerSecrets, type FoundSecret } from '../../../gitops/secrets/answer.ts'
import type { SecretAnswers } from '../../../gitops/secrets/edit-manifest.ts'
import type { Context } from '../../command.ts'
import type { AnswerSecretsValues } from '../../commands/gitops.ts'
import { INTERRUPTED } from '../../terminal/exit-status.ts'
import type { Choose } from '../../terminal/io.ts'
import { printDiagnostics } from '../../terminal/report.ts'
import { createNeeded } from './create-secrets.ts'

/**
 * Walks through the values that `publish` would refuse as secret, and writes the answers from the options or from the
 * user at the terminal to the manifest. After all answers are given, can also create the Secrets in the cluster
 * (create-secrets.ts). Returns the exit status: 1 if values are left, 130 if the user cancels.
 */
export async function answerOpenSecrets(context: Context, options: AnswerSecretsValues): Promise<number> {
  const { io } = context
  const answers = givenAnswers(options)
  if (options.create && options.dryRun) throw new UsageError('`--create` cannot be combined with `--dry-run`')
  const { choose } = io
  const ask = choose && ((found: FoundSecret) => askFor(choose, found))
  const outcome = await answerSecrets({ workspace: io, ...(ask && { whatIsSecret: ask }) }, { ...options, answers })
  const status = printAnswered(context, outcome)
  return status !== 0 || options.dryRun ? status : createNeeded(context, options)
}

/**
 * Returns the answers from the options. Throws a UsageError for a malformed `--secret`, and for a value that both
 * `--secret` and `--public` name.
 */
function givenAnswers(options: AnswerSecretsValues): SecretAnswers {
  const values = new Map<string, { readonly secret: string; readonly key: string }>()
  for (const text of options.secret ?? []) {
    const [, path, secret, key] = /^(.+)=([^=/]+)\/([^=/]+)$/.exec(text) ?? []
    if (path === undefined || !isDnsSubdomain(secret!) || !/^[-._a-zA-Z0-9]{1,253}$/.test(key!))
      throw new UsageError(`\`--secret\` is \`${text}\``, {
        hint: 'write `PATH=SECRET/KEY`, such as `services.db.environment.POSTGRES_PASSWORD=shop-db/password`',
      })
    values.set(path, { secret: secret!, key: key! })
  }
  const both = options.public?.find(path => values.has(path))
  if (both !== undefined) throw new UsageError(`\`${both}\` is named by \`--secret\` and by \`--public\``)
  return { values, public: options.public ?? [] }
}

async function askFor(choose: Choose, { message, span, secret: { source } }: FoundSecret) {
  const place = span ? ` (${span.file.path}:${span.file.position(span.start).line})` : ''
  const answer = await choose(`${message}${place}`, [
    {
      value: 'secret',
      label: source ? `take it from the Secret \`${source.secret}\`, key \`${source.key}\`` : 'take it from a Secret',
      isPreset: source !== undefined,
      ...(!source && { disabled: 'it has to become a variable or an entry of `secrets` first' }),
    },
    { value: 'public', label: 'it is not secret: publish the value' },
    { value: 'later', label: 'answer later', isPreset: source === undefined },
  ])
  return answer as 'secret' | 'public' | 'later' | undefined // the values of the answers
}

/** Prints the outcome and returns the exit status. */
function printAnswered({ io, logLevel }: Context, outcome: AnswerOutcome): number {
  const { stdout, stderr } = io
  switch (outcome.kind) {
    case 'refused':
      printDiagnostics(outcome.diagnostics, io, logLevel)
      stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was written')}\n`)
      return 1
    case 'cancelled':
      return INTERRUPTED
    case 'answered': {
      const { environment, manifest, answered, text, left } = outcome
      if (text !== undefined) stdout.write(text)
      else if (answered > 0) stdout.write(`written: ${manifest} (${plural(answered, 'answer')})\n`)
      if (left.length > 0) {
        printDiagnostics(left, io, logLevel)
        stderr.write(`${plural(left.length, 'value')} left to answer: ${left.map(optionFor).join(', ')}\n`)
        return 1
      }
      if (answered === 0) stdout.write(`nothing to answer: ${environment} publishes nothing that looks secret\n`)
      return 0
    }
  }
}

/**
 * Returns an option, in backticks, that answers whether a value is secret: `--secret` if a Secret with the value is
 * known, otherwise `--public`.
 */
const optionFor = ({ secret: { path, source } }: FoundSecret) =>
  source ? `\`--secret ${path}=${source.secret}/${source.key}\`` : `\`--public ${path}\``
