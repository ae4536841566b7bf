const names = (text: string): readonly string[] => text.trim().split(/\s+/)

/** Variables that control a shell, a loader or a tool. */
const NAMES = [
  // shells, and programs that they start
  ...names('PATH HOME SHELL SHELLOPTS BASHOPTS IFS ENV PS4 PROMPT_COMMAND ZDOTDIR FPATH CDPATH PWD OLDPWD TMPDIR'),
  ...names('EDITOR HGEDITOR VISUAL PAGER MANPAGER BROWSER LESS LESSOPEN LESSCLOSE VIMINIT EXINIT FCEDIT'),
  // libraries that every program loads
  ...names('GCONV_PATH LOCPATH NLSPATH HOSTALIASES RES_OPTIONS TERMINFO WGETRC INPUTRC'),
  ...names('SSLKEYLOGFILE REQUESTS_CA_BUNDLE'),
  // the cluster, the cloud and other machines
  ...names('KUBECONFIG KUBERC KUBE_EDITOR KUBECTL_EXTERNAL_DIFF COMPOSE_FILE COMPOSE_ENV_FILES'),
  ...names('CONTAINER_HOST CONTAINERS_CONF AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CLOUDSDK_CONFIG'),
  ...names('AZURE_CONFIG_DIR AZURE_EXTENSION_DIR GH_HOST GH_CONFIG_DIR TERRAGRUNT_TFPATH TG_TF_PATH'),
  ...names('HGRCPATH RSYNC_CONNECT_PROG GNUPGHOME PSQLRC RCLONE_METADATA_MAPPER LIBMYSQL_PLUGINS'),
  ...names('LIBMYSQL_PLUGIN_DIR BORG_PASSCOMMAND'),
  // make, compilers and archives
  ...names('MAKEFLAGS GNUMAKEFLAGS MAKEFILES CONFIG_SITE CONFIG_SHELL CC CXX CPP FC AR AS LD RM YACC LEX'),
  ...names('CFLAGS CXXFLAGS CPPFLAGS LDFLAGS TAR_OPTIONS ZIPOPT'),
  // languages and their build tools
  ...names('GOFLAGS GOPROXY GOSUMDB GONOSUMDB GOROOT GOPATH GOAUTH GOCACHEPROG GOENV GOTOOLCHAIN GOTOOLDIR GOVCS'),
  ...names('GOINSECURE GOWORK CLASSPATH JDK_JAVA_OPTIONS JAVACMD MAVEN_ARGS'),
  ...names('GRADLE_USER_HOME ANT_ARGS ELIXIR_ERL_OPTIONS LUA_INIT TCLLIBPATH'),
  ...names('RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER RUSTFLAGS PHPRC PHP_INI_SCAN_DIR'),
  ...names('PYTEST_PLUGINS PYTEST_ADDOPTS COR_ENABLE_PROFILING NUGET_PLUGIN_PATHS NUGET_NETCORE_PLUGIN_PATHS'),
  ...names('NUGET_NETFX_PLUGIN_PATHS'),
  // Windows
  ...names('COMSPEC PATHEXT PSMODULEPATH USERPROFILE APPDATA TMP TEMP'),
]
/** Prefixes of further variables that control a shell, a loader or a tool. */
const FAMILIES = [
  ...names('LD_ DYLD_ BASH_ XDG_ OPENSSL_ SSL_CERT_ CURL_ MALLOC_ GLIBC_ NIX_ CCACHE_ PKG_CONFIG CMAKE_'),
  ...names('NODE_ NPM_CONFIG_ YARN_ PNPM_ BUN_ DENO_ COREPACK_ TS_NODE_ PRISMA_QUERY_ENGINE_ PRISMA_SCHEMA_ENGINE_'),
  ...names('PYTHON PIP_ UV_ POETRY_ PERL RUBY GEM_ BUNDLE_ COMPOSER_ LUA_ ERL_ JULIA_ R_PROFILE R_ENVIRON'),
  ...names('JAVA_ _JAVA_ MVNW_ BAZELISK_ USE_BAZEL_ CARGO_ RUSTUP_ DOTNET_ CORECLR_ COR_PROFILER COMPLUS_'),
  ...names('GIT_ SSH_ PASSWORD_STORE_ ANSIBLE_ DOCKER_ BUILDKIT_ BUILDX_ HELM_ TF_CLI_ CLOUDSDK_PYTHON DEVCTL_'),
]
/**
 * Suffixes of variables for a program that a tool starts or downloads, such as `AWS_PAGER`, `SUDO_ASKPASS`,
 * `RESTIC_PASSWORD_COMMAND`, `RCLONE_SFTP_SSH`, `CYPRESS_INSTALL_BINARY`, `ELECTRON_MIRROR`, and of variables with
 * options for such a program, such as `CATALINA_OPTS`.
 */
const STARTED =
  /_(PAGER|EDITOR|ASKPASS|BROWSER|RSH|SSH|CMD|COMMAND|OPTS|MIRROR|EXECUTABLE_PATH|BINARY(_PATH|_SITE|_HOST|_URL)?)$/
/** The maximum length of a name. */
const LONGEST_VARIABLE = 100
const REFUSED: ReadonlySet<string> = new Set(NAMES)
/**
 * Names that are allowed although they start with `DEVCTL_`, because the documentation recommends these variables for
 * namespaces.
 */
const ALLOWED: ReadonlySet<string> = new Set([
  'DEVCTL_BASE_REGISTRY',
  'DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED',
  'DEVCTL_TOLERATE_FAILURES',
])

/**
 * Returns the reason why a variable of the platform must not have a name, as a clause; undefined if the name is
 * allowed. Some variables can execute code: with `NODE_OPTIONS`, one member of a shared namespace could run code on the
 * laptop of another (design, section 8).
 */
export function variableNameProblem(name: string): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    return 'it must consist of letters, digits and `_`, and not begin with a digit'
  if (name.length > LONGEST_VARIABLE) return `it has more than ${LONGEST_VARIABLE} characters`
  return decides(name) ? 'it changes how programs run on the machines of all who deploy there' : undefined
}

/**
 * True if a variable with this name can execute code. Ignores upper and lower case, because some tools and systems do
 * not distinguish `path` from `PATH`.
 */
function decides(name: string): boolean {
  const upper = name.toUpperCase()
  if (ALLOWED.has(name)) return false
  return (
    REFUSED.has(upper) ||
    STARTED.test(upper) ||
    /^(.*_)?PROXY$/.test(upper) ||
    FAMILIES.some(family => upper.startsWith(family))
  )
}
