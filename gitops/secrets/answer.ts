import { readFileSync, writeFileSync } from 'node:fs'
import type { Diagnostic, SecretFinding } from '../../compiler/diagnostics/diagnostic.ts'
import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { compileWithoutValues } from '../../project/compile-without-values.ts'
import type { LoadInput } from '../../project/input.ts'
import { openProject } from '../../project/open-project.ts'
import type { OpenProject } from '../../project/opened-project.ts'
import type { Workspace } from '../../project/workspace.ts'
import { type SecretAnswers, withSecretAnswers } from './edit-manifest.ts'

/** A value that `publish` rejects because it is a secret, or looks like a secret. */
export type FoundSecret = Diagnostic & { readonly secret: SecretFinding }

export interface AnswerInput extends LoadInput {
  /** Name of the environment. */
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  /** Answers of the caller. */
  readonly answers: SecretAnswers
  /** True to write nothing; the outcome contains the text of the manifest. */
  readonly dryRun?: boolean | undefined
}

export interface AnswerContext {
  readonly workspace: Workspace
  /**
   * Asks the user whether a value is secret; undefined if the user cancels. If absent, the command is not interactive.
   */
  readonly whatIsSecret?: (found: FoundSecret) => Promise<'secret' | 'public' | 'later' | undefined>
}

export type AnswerOutcome =
  /** The files have errors other than secret values. Nothing was written. */
  | { readonly kind: 'refused'; readonly diagnostics: readonly Diagnostic[] }
  /** The user canceled. Nothing was written. */
  | { readonly kind: 'cancelled' }
  | {
      readonly kind: 'answered'
      readonly environment: string
      /** Path of the manifest as shown to users. */
      readonly manifest: string
      /** Number of answers that this run adds to the manifest. */
      readonly answered: number
      /** Manifest text with the answers, for a dry run with answers. */
      readonly text?: string
      readonly left: readonly FoundSecret[]
    }

/**
 * Finds the values that `publish` would reject as secret, and writes the answers of the caller or the user into the
 * manifest. Throws a UsageError if no environment is selected or no manifest can be written, and for answers that match
 * no finding.
 */
export async function answerSecrets(
  { workspace, whatIsSecret }: AnswerContext,
  input: AnswerInput,
): Promise<AnswerOutcome> {
  const project = await openProject(workspace, input)
  const { manifest, environment } = editable(project)
  const { name, namespace, answers: given, dryRun } = input
  const compiled = await compileWithoutValues(workspace, input, { name, namespace }, { project, forRepository: true })
  const { diagnostics } = compiled
  const found = diagnostics.filter((one): one is FoundSecret => one.secret !== undefined)
  const errors = diagnostics.filter(({ severity, secret }) => severity === 'error' && !secret)
  if (errors.length > 0) return { kind: 'refused', diagnostics: errors }
  refuseUnknown(given, found)
  const asked = whatIsSecret ? await askAll(whatIsSecret, found, given) : given
  if (!asked) return { kind: 'cancelled' }
  const answers = settled(asked, found)
  const left = found.filter(({ secret: { path } }) => !answers.values.has(path) && !answers.public.includes(path))
  const answered = found.length - left.length
  const outcome = { kind: 'answered', environment: environment.key, manifest: manifest.shown, answered, left } as const
  if (answered === 0) return outcome
  const text = await withSecretAnswers(readFileSync(manifest.path, 'utf8'), environment.key, answers)
  if (dryRun) return { ...outcome, text }
  writeFileSync(manifest.path, text)
  return outcome
}

/** Returns the manifest and the environment to edit. Throws a UsageError if either is missing. */
function editable({ manifest, environment }: OpenProject) {
  if (!environment) throw new UsageError('which environment?', { hint: 'add `--environment NAME`' })
  if (!manifest || manifest.automatic) throw new UsageError('no devctl.yml to write the answers to')
  if (manifest.dialect)
    throw new UsageError(`\`${manifest.shown}\` is an Okteto manifest, which devctl does not change`, {
      hint: 'to write a `devctl.yml` from it, run `devctl migrate --write`',
    })
  return { manifest, environment }
}

/** Throws a UsageError for an answer that matches no finding. */
function refuseUnknown({ values, public: open }: SecretAnswers, found: readonly FoundSecret[]): void {
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

/** Returns the user's answers in addition to the given ones; undefined if the user cancels. */
async function askAll(
  whatIsSecret: NonNullable<AnswerContext['whatIsSecret']>,
  found: readonly FoundSecret[],
  given: SecretAnswers,
): Promise<SecretAnswers | undefined> {
  const values = new Map(given.values)
  const open = [...given.public]
  for (const one of found) {
    const { path, source } = one.secret
    if (values.has(path) || open.includes(path)) continue
    const answer = await whatIsSecret(one)
    if (answer === undefined) return undefined
    if (answer === 'secret' && source) values.set(path, source)
    if (answer === 'public') open.push(path)
  }
  return { values, public: open }
}

/** Returns the answers in the order of the findings. */
function settled({ values, public: open }: SecretAnswers, found: readonly FoundSecret[]): SecretAnswers {
  const paths = [...new Set(found.map(({ secret }) => secret.path))]
  return {
    values: new Map(paths.flatMap(path => (values.has(path) ? [[path, values.get(path)!] as const] : []))),
    public: paths.filter(path => open.includes(path)),
  }
}
