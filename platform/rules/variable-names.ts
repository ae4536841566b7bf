/**
 * Variables that make programs do something else than they were asked for. In a shared namespace
 * they would run one person's code on the laptop of another (design, section 8).
 */
const REFUSED =
  /^(PATH|HOME|SHELL|SHELLOPTS|BASHOPTS|IFS|ENV|BASH_ENV|PS4|PROMPT_COMMAND|KUBECONFIG|([A-Z]+_)?PROXY|_?JAVA_.*|(LD|DYLD|NODE|NPM_CONFIG|GIT|SSH|DOCKER|BUILDKIT|HELM|DEVCTL)_.*|(PYTHON|PERL|RUBY).*)$/
/** Switches that are documented for namespaces. */
const ALLOWED: ReadonlySet<string> = new Set(['DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED'])

/** Why a variable of the platform cannot be called so, as a clause; undefined if it can. */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'it may have letters, digits and `_`, and does not begin with a digit'
  if (name.length > 128) return 'it has more than 128 characters'
  const upper = name.toUpperCase()
  if (!ALLOWED.has(name) && REFUSED.test(upper))
    return 'programs of everybody who deploys there would do something else with it'
  return undefined
}
