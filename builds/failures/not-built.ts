import { BuilderError, BuildFailure } from '../../adapters/buildkit/failure.ts'
import { registryOf } from '../../adapters/registry/registry.ts'
import { loginCommand } from '../../adapters/registry/registry-problem.ts'
import { type Diagnostic, diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import { Reporter } from '../../compiler/diagnostics/reporter.ts'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import type { BuildSpec } from '../../compiler/values/images/build-spec.ts'
import type { PlannedBuild } from '../plan/planned-build.ts'
import type { BuildEnd } from '../run-builds.ts'
import { failedStep } from './failed-step.ts'
import { oneLine } from './failure-cause.ts'

const failed = diagnostic({
  code: 'build/failed',
  severity: 'error',
  explain: `The builder did not build the image of a service, or could not push it. The message is the builder's own. A lost connection, a restart of the builder, and statuses of a registry that may pass (429, 5xx) are tried three times.

\`devctl build SERVICE --progress plain\` prints every step.`,
  text: (p: { readonly service: string; readonly reason: string; readonly hint?: string | undefined }) => ({
    message: messageOf(p.service, p.reason),
    hint: p.hint,
  }),
})

/** Returns the message for an image that was not built. If only the push failed, states that the image was built. */
function messageOf(service: string, reason: string): string {
  const [, name, why] = /^failed to push (\S+): (.*)$/s.exec(reason) ?? []
  if (name === undefined) return `the image of \`${service}\` was not built: ${oneLine(reason)}`
  return `the image of \`${service}\` was built, but not pushed to \`${name}\`: ${oneLine(why!)}`
}

const contextChanged = diagnostic({
  code: 'build/context-changed',
  severity: 'error',
  explain: `The tag of an image that devctl builds is the hash of what the build reads: an image in the registry with that tag is not built again. A file of the context, or the Dockerfile, changed after the hash was computed and before the builder had the file. The build is ended before anything is pushed, so that the tag never stands for other content.

Build again. A file that is written all the time, such as a log, belongs in \`.dockerignore\`.`,
  text: (p: { readonly service: string; readonly reason: string }) => ({
    message: `the image of \`${p.service}\` was not built: ${p.reason}`,
    hint: 'build again; a file that the build does not need can be listed in `.dockerignore`',
  }),
})

/**
 * Returns the diagnostics that explain why an image was not built, at its `build`. Returns none for an image that was
 * built, or that was skipped because another build failed. Throws errors that are not about the build.
 */
export function notBuilt(
  { service, span, inline, target }: PlannedBuild,
  spec: BuildSpec,
  cwd: string,
  end: BuildEnd,
): readonly Diagnostic[] {
  if (end.kind !== 'failed') return []
  const { error } = end
  if (error instanceof BuildFailure)
    return [failedStep(error, { name: service, spec, span, cwd, ...(inline && { inline }), ...(target && { target }) })]
  if (!(error instanceof BuilderError || error instanceof UserError)) throw error
  const reporter = new Reporter()
  if (error instanceof BuilderError && error.kind === 'changed')
    reporter.report(contextChanged, span, { service, reason: error.message })
  else {
    const hint = error instanceof UserError ? error.hint : pushHint(error)
    reporter.report(failed, span, { service, reason: error.message, hint })
  }
  return reporter.diagnostics()
}

/**
 * Returns the hint for a push that a registry rejected (recognized by the text of the error); undefined for another
 * error.
 */
function pushHint({ kind, message }: BuilderError): string | undefined {
  const [, image] = /failed to push (\S+):/.exec(message) ?? []
  if (kind !== 'registry' || image === undefined) return undefined
  const login = loginCommand(registryOf(image))
  if (DENIED.test(message)) return `log in with an account that may push there: ${login}`
  if (/\b429\b|toomanyrequests/i.test(message)) return `try again later, or log in: ${login}`
  if (FAILING.test(message)) return `the registry \`${registryOf(image)}\` fails: look at its log, or try again later`
  if (NOT_REACHED.test(message)) return `check that the builder can reach \`${registryOf(image)}\` under this name`
  return undefined
}

const DENIED = /\b40[13]\b|access denied|insufficient_scope|authorization failed|unauthorized|denied:/i

const FAILING = /answers 5\d\d\b|\b50[0234] [A-Z]/

const NOT_REACHED =
  /connection refused|no such host|i\/o timeout|no route to host|server gave HTTP response|certificate/i
