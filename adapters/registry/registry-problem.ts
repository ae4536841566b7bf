import { registryOf } from './registry.ts'

/** Reason why a request to a registry failed, such as a query for the digest of a reference. Contains no secrets. */
export type RegistryProblem =
  | { readonly kind: 'invalid'; readonly reason: string; readonly hint?: string }
  /** The registry has no such tag or image. Registries differ in which of the two they report. */
  | { readonly kind: 'missing' }
  /**
   * No permission. `login` is `none` if no login was sent, `sent` if the login has no permission, and `refused` if the
   * registry rejected the login itself.
   */
  | { readonly kind: 'denied'; readonly login: 'none' | 'sent' | 'refused'; readonly said?: string }
  /** The registry cannot be reached; `reason` is a clause. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly hint?: string }
  /** The registry repeatedly responds with a status that may be temporary. */
  | { readonly kind: 'busy'; readonly status: number; readonly said?: string }
  /** The registry does not accept the push. */
  | { readonly kind: 'refused'; readonly status: number; readonly said?: string }
  /** The server is not a registry, or does not follow the protocol; `reason` is a clause. */
  | { readonly kind: 'not-a-registry'; readonly reason: string }

/** Error of the functions that query a registry; contains the problem. */
export class RegistryFailure extends Error {
  readonly problem: RegistryProblem
  /** HTTP status of a response of the registry that denies a request. */
  readonly status: number | undefined

  constructor(problem: RegistryProblem, status?: number) {
    super(problem.kind)
    this.problem = problem
    this.status = status
  }
}

/** The text of a diagnostic about a problem. */
export interface ProblemText {
  readonly message: string
  readonly notes: readonly string[]
  readonly hint?: string
}

/** Returns a text that explains to the user why an image has no digest. */
export function describeProblem(reference: string, problem: RegistryProblem): ProblemText {
  const registry = registryOf(reference)
  const image = `\`${reference}\``
  const host = `\`${registry}\``
  switch (problem.kind) {
    case 'invalid':
      return text(`${image} is not a valid image reference: ${problem.reason}`, problem.hint)
    case 'missing':
      return text(
        `the registry ${host} has no ${image}`,
        `push it first (\`docker push ${reference}\`), or name an image that exists`,
      )
    case 'denied':
      return denied(image, registry, problem)
    case 'unreachable':
      return text(`the registry ${host} cannot be asked for ${image}: ${problem.reason}`, problem.hint)
    case 'busy':
      return text(
        problem.status === 429
          ? `the registry ${host} refuses more requests for now, so ${image} has no digest`
          : `the registry ${host} is failing (status ${problem.status}), so ${image} has no digest`,
        problem.status === 429 ? `log in (${loginCommand(registry)}), or try again later` : 'try again later',
        problem.said,
      )
    case 'refused':
      return text(`the registry ${host} refuses ${image} (${problem.status})`, undefined, problem.said)
    case 'not-a-registry':
      return text(
        `what answers at ${host} is not an image registry: ${problem.reason}`,
        `check the name of the registry in ${image}`,
      )
  }
}

function denied(
  image: string,
  registry: string,
  { login, said }: Extract<RegistryProblem, { readonly kind: 'denied' }>,
): ProblemText {
  const logIn = loginCommand(registry)
  switch (login) {
    case 'refused':
      return text(
        `the registry \`${registry}\` rejected the login in the Docker configuration`,
        `log in again: ${logIn}`,
        said,
      )
    case 'sent':
      return text(
        `the login for \`${registry}\` may not read ${image}, or it does not exist`,
        `check the name, or log in with an account that may read it: ${logIn}`,
        said,
      )
    case 'none':
      return text(
        `\`${registry}\` requires a login for ${image}, or it does not exist`,
        `check the name, or log in: ${logIn}`,
        said,
      )
  }
}

/** Returns the command for logging in to a registry. `docker login` without an argument means Docker Hub. */
export const loginCommand = (registry: string) =>
  registry === 'docker.io' ? '`docker login`' : `\`docker login ${registry}\``

const text = (message: string, hint?: string, said?: string): ProblemText => ({
  message,
  notes: said === undefined ? [] : [`the registry says: ${said}`],
  ...(hint !== undefined && { hint }),
})
