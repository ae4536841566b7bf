import { readFileSync, writeFileSync } from 'node:fs'
import type { Diagnostic, SecretFinding } from '../../compiler/diagnostics/diagnostic.ts'
import { failureSummary, plural } from '../../compiler/diagnostics/render/summary.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { isDnsSubdomain } from '../../compiler/values/dns-name.ts'
import { compileWithoutValues } from '../../operations/project/compile-without-values.ts'
import { openProject } from '../../operations/project/open-project.ts'
import type { OpenProject } from '../../operations/project/opened-project.ts'
import type { Context } from '../command.ts'
import type { Choose } from '../io.ts'
import { printDiagnostics } from '../report.ts'
import { type CreateSecretsValues, createSecrets } from './create-secrets.ts'
import { type SecretAnswers, withSecretAnswers } from './edit-manifest.ts'

export interface AnswerSecretsValues extends CreateSecretsValues {
  readonly secret: readonly string[] | undefined
  readonly public: readonly string[] | undefined
  readonly dryRun: boolean
}

type Found = Diagnostic & { readonly secret: SecretFinding }
type Source = NonNullable<SecretFinding['source']>

/**
 * Walks through what `publish` would refuse as secret, and writes what options or the person at the terminal answer into the manifest. Once nothing is left, it may create the
 * Secrets (create-secrets.ts). Gives the exit status: 1 while something is left, 130 when the person leaves.
 */
export async function answerSecrets(context: Context, options: AnswerSecretsValues): Promise<number> {
  const { io, logLevel } = context
  const given = givenAnswers(options)
  if (options.create && options.dryRun) throw new UsageError('`--create` does not go with `--dry-run`')
  const project = await openProject(io, options)
  const { manifest, environment } = editable(project)
  const { name, namespace } = options
  const { diagnostics } = await compileWithoutValues(io, options, { name, namespace }, { project, forRepository: true })
  const found = diagnostics.filter((one): one is Found => one.secret !== undefined)
  const errors = diagnostics.filter(({ severity, secret }) => severity === 'error' && !secret)
  if (errors.length > 0) {
    printDiagnostics(errors, io, logLevel)
    io.stderr.write(`${failureSummary(errors, 'nothing was written')}\n`)
    return 1
  }
  refuseUnknown(given, found)
  const asked = io.choose ? await askAll(io.choose, found, given) : given
  if (!asked) return 130
  const answers = settled(asked, found)
  const left = found.filter(({ secret: { path } }) => !answers.values.has(path) && !answers.public.includes(path))
  const count = found.length - left.length
  if (count > 0) {
    const text = await withSecretAnswers(readFileSync(manifest.path, 'utf8'), environment.key, answers)
    if (options.dryRun) io.stdout.write(text)
    else writeFileSync(manifest.path, text)
    if (!options.dryRun) io.stdout.write(`written: ${manifest.shown} (${plural(count, 'answer')})\n`)
  }
  if (left.length > 0) {
    printDiagnostics(left, io, logLevel)
    io.stderr.write(`${plural(left.length, 'value')} left to answer: ${left.map(line).join(', ')}\n`)
    return 1
  }
  if (found.length === 0) io.stdout.write(`nothing to answer: ${environment.key} publishes nothing that looks secret\n`)
  return options.dryRun ? 0 : createSecrets(context, options)
}

/** An option that answers it. */
const line = ({ secret: { path, source } }: Found) =>
  source ? `\`--secret ${path}=${source.secret}/${source.key}\`` : `\`--public ${path}\``

/** Throws a UsageError where there is no environment that could be written to. */
function editable({ manifest, environment }: OpenProject) {
  if (!environment) throw new UsageError('which environment?', { hint: 'add `--environment NAME`' })
  if (!manifest || manifest.automatic) throw new UsageError('there is no devctl.yml to write the answers to')
  return { manifest, environment }
}

/** What the options answer. Throws a UsageError. */
function givenAnswers(options: AnswerSecretsValues): SecretAnswers {
  const values = new Map<string, Source>()
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

/** Throws a UsageError for an answer to what nobody asks. */
function refuseUnknown({ values, public: open }: SecretAnswers, found: readonly Found[]): void {
  const known = new Map(found.map(({ secret }) => [secret.path, secret]))
  const hint = known.size === 0 ? 'nothing is left to answer' : `there are ${[...known.keys()].join(', ')}`
  const unknown = [...values.keys(), ...open].find(path => !known.has(path))
  if (unknown !== undefined) throw new UsageError(`\`${unknown}\` is not among what looks secret`, { hint })
  const unfit = [...values.keys()].find(path => !known.get(path)!.source)
  if (unfit !== undefined)
    throw new UsageError(`\`${unfit}\` cannot come from a Secret`, {
      hint: 'move the value into a variable of the service or an entry of `secrets`',
    })
}

/** The answers of a person, beside the given ones; undefined when they leave. */
async function askAll(
  choose: Choose,
  found: readonly Found[],
  given: SecretAnswers,
): Promise<SecretAnswers | undefined> {
  const values = new Map(given.values)
  const open = [...given.public]
  for (const { message, span, secret } of found) {
    const { path, source } = secret
    if (values.has(path) || open.includes(path)) continue
    const place = span ? ` (${span.file.path}:${span.file.position(span.start).line})` : ''
    const answer = await choose(`${message}${place}`, [
      {
        value: 'secret',
        label: source ? `take it from the Secret \`${source.secret}\`, key \`${source.key}\`` : 'take it from a Secret',
        isPreset: source !== undefined,
        ...(!source && { disabled: 'it has to become a variable or an entry of `secrets` first' }),
      },
      { value: 'public', label: 'it is not secret: publish it as it is' },
      { value: 'later', label: 'answer later', isPreset: source === undefined },
    ])
    if (answer === undefined) return undefined
    if (answer === 'secret' && source) values.set(path, source)
    if (answer === 'public') open.push(path)
  }
  return { values, public: open }
}

/** In the order of the findings. */
function settled({ values, public: open }: SecretAnswers, found: readonly Found[]): SecretAnswers {
  const paths = [...new Set(found.map(({ secret }) => secret.path))]
  return {
    values: new Map(paths.flatMap(path => (values.has(path) ? [[path, values.get(path)!] as const] : []))),
    public: paths.filter(path => open.includes(path)),
  }
}
