/** Input of a run in the cluster. */
export interface RunInput {
  readonly action: 'deploy' | 'destroy'
  /** Its repository is cloned beside it. */
  readonly isCloned: boolean
  readonly environment: string
  readonly namespace: string
  /** The manifest, as a path in the repository. */
  readonly file?: string
  readonly volumes?: boolean
  /** Code of a fork, whose namespace admits only Pods of the level `restricted`. */
  readonly isFork?: boolean
  readonly variables: Readonly<Record<string, string>>
  /** Address of the platform, and the token of the run. */
  readonly url: string
  readonly token: string
  readonly domain: string
  /** The login name of who has asked for it. */
  readonly user?: string
}

/** The words of the command that a run is. They stay in this process: no list of processes shows them. */
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
    // The Pod has a deadline of its own, in which its last words are heard.
    '--timeout=24h',
    ...(file === undefined ? [] : [`--file=${file}`]),
    ...(volumes ? ['--volumes'] : []),
    ...Object.entries(variables).map(([name, value]) => `--var=${name}=${value}`),
  ]
}

/** The contexts of devctl in the Pod: the platform, and the cluster that the Pod is in. */
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
