import { type BuiltImage, buildVariables } from '../builds/built-image.ts'
import { UserError } from '../compiler/diagnostics/user-error.ts'
import { secretValues } from '../compiler/values/secrets/known-secrets.ts'
import { toVariableName } from '../compiler/values/variable-name.ts'

/** Outputs of a dependency that the deploy has waited for. */
export interface DependencyOutputs {
  readonly builds: ReadonlyMap<string, BuiltImage>
  readonly variables: Readonly<Record<string, string>>
}

export interface CommandVariablesInput {
  /** Environment of devctl's own process. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Variables set with `--var`. */
  readonly vars: Readonly<Record<string, string>>
  /**
   * True if `vars` come from the `variables` of a dependency in a manifest. In this case, only variables with a secret
   * name are secret.
   */
  readonly areVarsPublic?: boolean
  /** Name of the environment. */
  readonly name: string
  readonly namespace: string
  readonly context: string
  readonly domain?: string | undefined
  readonly user?: string | undefined
  /** Token of the platform, if the context is a platform. */
  readonly token?: string | undefined
  readonly registry?: string | undefined
  /** Address of BuildKit. */
  readonly builder?: string | undefined
  /** Facts about the repository that the commands come from. Each is absent if it is unknown. */
  readonly git: { readonly branch?: string; readonly commit?: string; readonly repository?: string }
  readonly builds: ReadonlyMap<string, BuiltImage>
  readonly dependencies: ReadonlyMap<string, DependencyOutputs>
}

export interface CommandVariables {
  /** Full environment of the commands, except `KUBECONFIG` and `DEVCTL_ENV`, which the proxy and the runner set. */
  readonly env: Readonly<Record<string, string>>
  /** Values that must never be shown. */
  readonly secrets: readonly string[]
}

/** Variables that `--var` may not set, because they would contradict the options that decide them. */
const RESERVED = ['DEVCTL_CONTEXT', 'DEVCTL_NAMESPACE', 'DEVCTL_URL', 'DEVCTL_TOKEN', 'DEVCTL_ENV', 'KUBECONFIG']

/** Throws a UserError if `--var` sets a reserved variable. */
export function refuseReserved(vars: Readonly<Record<string, string>>): void {
  const name = Object.keys(vars).find(one => RESERVED.includes(one))
  if (name !== undefined)
    throw new UserError(`\`--var\` cannot set \`${name}\``, {
      hint: HINTS[name] ?? 'devctl sets it for the commands; choose another name',
    })
}

/**
 * Returns the environment for the commands of the `deploy` and `destroy` sections. In ascending precedence: the
 * variables of this process, facts from git that the process does not set, `--var`, and devctl's own variables. Throws
 * a UserError if `--var` sets a reserved variable.
 */
export function commandVariables(input: CommandVariablesInput): CommandVariables {
  const { env, vars, git } = input
  refuseReserved(vars)
  const unlessSet = (variable: string, value: string | undefined) => ({ [variable]: env[variable] || value })
  const ours = present({
    DEVCTL_NAME: input.name,
    DEVCTL_NAMESPACE: input.namespace,
    DEVCTL_CONTEXT: input.context,
    DEVCTL_DOMAIN: input.domain,
    DEVCTL_USERNAME: input.user,
    DEVCTL_TOKEN: input.token,
    DEVCTL_REGISTRY_URL: input.registry,
    ...Object.assign(
      {},
      ...[...input.builds].map(([service, image]) => buildVariables('DEVCTL_BUILD', service, image)),
    ),
    ...Object.assign({}, ...[...input.dependencies].map(([dependency, outputs]) => outputsOf(dependency, outputs))),
    // A devctl that a command runs must neither prompt nor draw.
    DEVCTL_WITHIN_DEPLOY_COMMAND_CONTEXT: 'true',
    DEVCTL_DISABLE_SPINNER: 'true',
  })
  const found = {
    ...unlessSet('DEVCTL_GIT_BRANCH', git.branch),
    ...unlessSet('DEVCTL_GIT_COMMIT', git.commit),
    ...unlessSet('GITHUB_REPOSITORY', git.repository),
    ...unlessSet('BUILDKIT_HOST', input.builder),
  }
  const given = input.areVarsPublic ? [] : Object.values(vars)
  const secrets = [...given, input.token, env['DEVCTL_TOKEN'], ...secretValues(env)]
  return {
    env: withoutDetour(present({ ...env, ...found, ...vars, ...ours })),
    secrets: [...new Set(secrets.filter(value => value !== undefined && value !== ''))] as string[], // no undefined is left
  }
}

const HINTS: Readonly<Record<string, string>> = {
  DEVCTL_CONTEXT: 'choose the context with `--context`',
  DEVCTL_NAMESPACE: 'choose the namespace with `--namespace`',
}

function outputsOf(dependency: string, { builds, variables }: DependencyOutputs): Readonly<Record<string, string>> {
  const start = `DEVCTL_DEPENDENCY_${toVariableName(dependency)}`
  const handed = Object.entries(variables).map(([name, value]) => [`${start}_VARIABLE_${toVariableName(name)}`, value])
  const built = [...builds].map(([service, image]) => buildVariables(`${start}_BUILD`, service, image))
  return Object.assign(Object.fromEntries(handed), ...built)
}

/**
 * Excludes 127.0.0.1 from the HTTPS proxies in the environment. Otherwise, some programs (for example in Python) would
 * use these proxies to connect to the labelling proxy on this machine.
 */
function withoutDetour(env: Record<string, string>): Record<string, string> {
  if (!['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'].some(name => env[name])) return env
  const exceptions = [env['NO_PROXY'] ?? env['no_proxy'], '127.0.0.1'].filter(Boolean).join(',')
  return { ...env, NO_PROXY: exceptions, no_proxy: exceptions }
}

const present = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
