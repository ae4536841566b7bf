/** Input of a run in the cluster. */
export interface RunInput {
  readonly action: 'deploy' | 'destroy'
  /** True if the run has a repository, which the clone container clones. */
  readonly isCloned: boolean
  readonly environment: string
  readonly namespace: string
  /** Path of the manifest in the repository. */
  readonly file?: string
  readonly volumes?: boolean
  /** True for code of a fork. The namespace of such a run admits only Pods of the security level `restricted`. */
  readonly isFork?: boolean
  readonly variables: Readonly<Record<string, string>>
  /** URL of the platform, and the token of the run. */
  readonly url: string
  readonly token: string
  readonly domain: string
  /** Login name of the user who requested the run. */
  readonly user?: string
}

/**
 * Returns the command-line arguments of a run. They are only passed inside this process, so no process list shows them.
 */
export function toArguments({
  action,
  environment,
  namespace,
  file,
  volumes,
  isFork,
  variables,
}: RunInput): readonly string[] {
  return [
    action,
    '--wait',
    ...(action === 'deploy' ? ['--output=json'] : []),
    ...(action === 'deploy' && isFork ? ['--policy=restricted'] : []),
    `--name=${environment}`,
    `--namespace=${namespace}`,
    // The Pod has its own deadline, after which its final messages are still received.
    '--timeout=24h',
    ...(file === undefined ? [] : [`--file=${file}`]),
    ...(volumes ? ['--volumes'] : []),
    ...Object.entries(variables).map(([name, value]) => `--var=${name}=${value}`),
  ]
}

/**
 * Returns the contexts of devctl in the Pod: a single context with the platform and the cluster that the Pod runs in.
 */
export const toContexts = ({ url, token, namespace, domain, user }: RunInput, ca: string): object => ({
  current: url,
  contexts: {
    [url]: {
      token,
      namespace,
      domain,
      ...(user !== undefined && { user }),
      kubernetes: { server: 'https://kubernetes.default.svc', ca },
    },
  },
})
