/** Variables that decide what a shell, a loader or a tool does. */
const NAMES = [
  // shells, and what they start
  ...['PATH', 'HOME', 'SHELL', 'SHELLOPTS', 'BASHOPTS', 'IFS', 'ENV', 'PS4', 'PROMPT_COMMAND', 'ZDOTDIR', 'FPATH'],
  ...['CDPATH', 'PWD', 'OLDPWD', 'TMPDIR', 'EDITOR', 'VISUAL', 'PAGER', 'BROWSER', 'LESSOPEN', 'LESSCLOSE'],
  // libraries that every program has
  ...['GCONV_PATH', 'LOCPATH', 'NLSPATH', 'HOSTALIASES', 'RES_OPTIONS', 'TERMINFO', 'WGETRC', 'INPUTRC'],
  // tools with arguments, or the address of what they load, in a variable
  ...['KUBECONFIG', 'KUBE_EDITOR', 'KUBECTL_EXTERNAL_DIFF', 'MAKEFLAGS', 'GNUMAKEFLAGS', 'MAVEN_OPTS', 'GRADLE_OPTS'],
  ...['GOFLAGS', 'GOPROXY', 'GOSUMDB', 'GONOSUMDB', 'GOROOT', 'GOPATH', 'JDK_JAVA_OPTIONS', 'CLASSPATH', 'LUA_INIT'],
  ...['COMPOSE_FILE', 'COMPOSE_ENV_FILES', 'AWS_CONFIG_FILE', 'AWS_SHARED_CREDENTIALS_FILE', 'CLOUDSDK_CONFIG'],
  ...['RUSTC', 'RUSTC_WRAPPER', 'RUSTC_WORKSPACE_WRAPPER', 'RUSTFLAGS', 'PHPRC', 'PHP_INI_SCAN_DIR', 'TCLLIBPATH'],
]
/** Families of such variables, by how their names begin. */
const FAMILIES = [
  ...['LD_', 'DYLD_', 'BASH_', 'XDG_', 'OPENSSL_', 'SSL_CERT_', 'CURL_', 'MALLOC_', 'GLIBC_'],
  ...['NODE_', 'NPM_CONFIG_', 'YARN_', 'PNPM_', 'BUN_', 'DENO_', 'PYTHON', 'PIP_', 'UV_', 'POETRY_', 'PERL', 'RUBY'],
  ...['GEM_', 'BUNDLE_', 'JAVA_', '_JAVA_', 'CARGO_', 'RUSTUP_', 'DOTNET_', 'CORECLR_', 'ERL_', 'COMPOSER_'],
  ...['GIT_', 'SSH_', 'DOCKER_', 'BUILDKIT_', 'BUILDX_', 'HELM_', 'TF_CLI_', 'DEVCTL_'],
]
/** Letters of a name. */
const LONGEST_VARIABLE = 100
const REFUSED: ReadonlySet<string> = new Set(NAMES)
/** Switches that are documented for namespaces. */
const ALLOWED: ReadonlySet<string> = new Set(['DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED'])

/**
 * Why a variable of the platform cannot be called so, as a clause; undefined if it can. A name is code: with
 * `NODE_OPTIONS`, one member of a shared namespace would run their code on the laptop of another (design, section 8).
 */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'it may have letters, digits and `_`, and does not begin with a digit'
  if (name.length > LONGEST_VARIABLE) return `it has more than ${LONGEST_VARIABLE} characters`
  return decides(name) ? 'programs of everybody who deploys there would do something else with it' : undefined
}

/** In any case: some tools, and some systems, do not tell `path` from `PATH`. */
function decides(name: string): boolean {
  const upper = name.toUpperCase()
  if (ALLOWED.has(name)) return false
  return REFUSED.has(upper) || /^(.*_)?PROXY$/.test(upper) || FAMILIES.some(family => upper.startsWith(family))
}
