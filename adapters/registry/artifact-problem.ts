import { registryOf, repositoryOf } from './registry.ts'
import { loginCommand, type ProblemText, type RegistryProblem } from './registry-problem.ts'

/**
 * Returns a text that explains to the user why an artifact could not be read or pushed. `reference` is the reference of
 * the artifact, with a tag.
 */
export function describeArtifactProblem(
  reference: string,
  problem: RegistryProblem,
  purpose: 'read' | 'push',
): ProblemText {
  const registry = registryOf(reference)
  const host = `\`${registry}\``
  const said = 'said' in problem && problem.said !== undefined ? [`the registry says: ${problem.said}`] : []
  const text = (message: string, hint?: string, notes: readonly string[] = said): ProblemText => ({
    message,
    notes,
    ...(hint !== undefined && { hint }),
  })
  switch (problem.kind) {
    case 'invalid':
      return text(`\`${reference}\` is not a valid reference: ${problem.reason}`, problem.hint)
    case 'missing': {
      const repository = repositoryOf(reference.replace(/:[^:/]+$/, ''))
      return text(`the registry ${host} has no repository \`${repository}\``, 'create it, or check its name')
    }
    case 'denied':
      return text(deniedWords(problem, registry, `${purpose} \`${reference}\``), deniedHint(problem, registry))
    case 'unreachable':
      return text(`the registry ${host} cannot be reached: ${problem.reason}`, problem.hint)
    case 'busy':
      return problem.status === 429
        ? text(`the registry ${host} refuses more requests for now`, 'try again later')
        : text(`the registry ${host} is failing (status ${problem.status})`, 'try again later')
    case 'refused':
      return text(`the registry ${host} does not take \`${reference}\` (${problem.status})`, refusedHint(problem))
    case 'not-a-registry':
      return text(`what answers at ${host} is not a registry: ${problem.reason}`, 'check the name of the registry')
  }
}

type Denied = Extract<RegistryProblem, { readonly kind: 'denied' }>

function deniedWords({ login }: Denied, registry: string, doing: string): string {
  switch (login) {
    case 'refused':
      return `the registry \`${registry}\` rejected the login in the Docker configuration`
    case 'sent':
      return `the login for \`${registry}\` is not allowed to ${doing}`
    case 'none':
      return `a login is needed to ${doing}`
  }
}

const deniedHint = ({ login }: Denied, registry: string) =>
  login === 'sent'
    ? `check the name, or log in with an account that may: ${loginCommand(registry)}`
    : `log in: ${loginCommand(registry)}`

/**
 * Returns a hint for a push that the registry refused, because of an unknown media type, an existing tag, or too large
 * content.
 */
function refusedHint({ status, said = '' }: Extract<RegistryProblem, { readonly kind: 'refused' }>): string {
  if (/immutable|already exists|overwrite/i.test(said)) return 'its tags cannot be moved: name another tag'
  if (status === 405 || /^UNSUPPORTED|read.?only/i.test(said)) return 'it may be read-only'
  return status === 413
    ? 'it does not accept artifacts of that size'
    : "it must support OCI artifacts: an image manifest whose configuration is not an image's"
}
