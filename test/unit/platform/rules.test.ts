import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mayDo, NAMESPACE_ROLES, type NamespaceAction } from '../../../platform/rules/accounts/roles.ts'
import {
  isSecretOf,
  makeToken,
  parseToken,
  secretHash,
  TOKEN_KINDS,
  tokenText,
} from '../../../platform/rules/accounts/token.ts'
import { longerNames, ownerOfHost, shorterNames } from '../../../platform/rules/hosts.ts'
import { namespaceNameProblem, personalNamespace, previewName, userId } from '../../../platform/rules/names.ts'
import { variableNameProblem } from '../../../platform/rules/variable-names.ts'

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })

describe('tokens', () => {
  test('tokens are read as they were written, and a changed letter makes them invalid', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TOKEN_KINDS), bytes(10), bytes(32), fc.nat(), (kind, id, secret, at) => {
        const parts = makeToken(kind, { id, secret })
        const text = tokenText(parts)
        expect(parseToken(text)).toEqual(parts)
        expect(text).toMatch(/^devctl_[a-z]+_[a-z2-7]{16}_[0-9A-Za-z]{49}$/)
        const place = at % text.length
        const other = text[place] === 'b' ? 'c' : 'b'
        expect(parseToken(text.slice(0, place) + other + text.slice(place + 1))).toBeUndefined()
      }),
    )
  })

  test('parseToken ignores any other text', () => {
    fc.assert(
      fc.property(fc.string(), text => {
        expect(parseToken(text)).toBeUndefined()
      }),
    )
  })

  test('isSecretOf accepts only the secret of the hash', () => {
    expect(isSecretOf(secretHash('one'), 'one')).toBe(true)
    for (const wrong of ['two', '', 'onee']) expect(isSecretOf(secretHash('one'), wrong)).toBe(false)
    expect(isSecretOf('', 'one')).toBe(false)
  })
})

describe('names', () => {
  test.each([
    ['ann', 'ann'],
    ['Ann.Smith', 'ann-smith'],
    ['Ünsal', 'u-nsal'],
    ['kube-admin', 'dev-abcdefgh'],
    ['default', 'dev-abcdefgh'],
    ['…', 'dev-abcdefgh'],
    ['a'.repeat(60), 'a'.repeat(36)],
  ])('the personal namespace of %s is %s', (login, name) => {
    expect(personalNamespace(login, 'abcdefghijklmnop', () => false)).toBe(name)
  })

  test('a personal namespace whose name is taken gets a number', () => {
    expect(personalNamespace('ann', 'x', name => ['ann', 'ann-2'].includes(name))).toBe('ann-3')
    // A name that is reserved for others is used neither as it stands nor as a prefix of a number.
    const kept = (name: string) => name.startsWith('ann-')
    expect(personalNamespace('ann', 'abcdefghij', name => name === 'ann', kept)).toBe('dev-abcdefgh-2')
    expect(personalNamespace('Ann B', 'abcdefghij', () => false, kept)).toBe('dev-abcdefgh')
  })

  test('any login, repository and branch gives valid names', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (one, other) => {
        expect(namespaceNameProblem(personalNamespace(one, 'abcdefghijklmnop', () => false))).toBeUndefined()
        expect(previewName(one, other)).toMatch(/^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$/)
        expect(namespaceNameProblem(previewName(one, other))).toBeUndefined()
      }),
    )
  })

  test.each(['kube-x', 'devctl-x', 'openshift', 'openshift-x', 'istio-system', 'default', 'platform', 'shared'])(
    'the namespace name %s is reserved',
    name => {
      expect(namespaceNameProblem(name)).toBe('it is reserved')
      expect(namespaceNameProblem(`my-${name}-of-mine`)).toBeUndefined()
      expect(namespaceNameProblem(personalNamespace(name, 'abcdefghijklmnop', () => false))).toBeUndefined()
    },
  )

  test.each([
    ['kube-tools', 'main', /^preview-kube-tools-main-[a-z2-7]{6}$/],
    ['shop', 'design-system', /^preview-shop-design-system-[a-z2-7]{6}$/],
    ['devctl-docs', 'a'.repeat(60), /^preview-devctl-docs-a{13}-[a-z2-7]{6}$/],
  ])('the preview of %s, branch %s, gets a name that is not reserved', (repository, branch, name) => {
    expect(previewName(repository, branch)).toMatch(name)
    expect(namespaceNameProblem(previewName(repository, branch))).toBeUndefined()
  })

  test('two long branches get two preview names', () => {
    const long = 'feature/the-login-page-that-everybody-has-been-waiting-for'
    expect(previewName('shop', `${long}-1`)).not.toBe(previewName('shop', `${long}-2`))
    expect(previewName('shop', 'Feature/Login')).toBe('shop-feature-login')
  })

  test.each([
    ['日本語', /^shop-[a-z2-7]{6}$/],
    ['fix/über', /^shop-fix-u-ber-[a-z2-7]{6}$/],
    ['feature/логин', /^shop-feature-[a-z2-7]{6}$/],
    ['###', /^shop-[a-z2-7]{6}$/],
  ])('the preview of the branch %s, which has other letters than a name, gets a hash', (branch, name) => {
    expect(previewName('shop', branch)).toMatch(name)
    expect(previewName('shop', branch)).not.toBe(previewName('shop', `${branch}語`))
  })

  test.each([
    ['feature/login', 'shop-feature-login'],
    ['Feature_Login', 'shop-feature-login'],
    ['release/1.2', 'shop-release-1-2'],
    ['fix-#12', 'shop-fix-12'],
  ])('the preview of the branch %s has no hash', (branch, name) => expect(previewName('shop', branch)).toBe(name))

  test('userId keeps issuer and subject apart', () => {
    expect(userId('https://a', 'b')).not.toBe(userId('https://ab', ''))
  })
})

describe('hosts', () => {
  const namespaces = ['dev', 'shop-dev', 'shop']
  test.each([
    ['web-dev.example.com', 'dev'],
    ['web-shop-dev.example.com', 'shop-dev'],
    ['shop-dev.example.com', 'shop-dev'],
    ['web-shop.example.com', 'shop'],
    ['webshop.example.com', undefined],
    ['web-dev.example.org', undefined],
    ['platform.example.com', undefined],
  ])('the host %s belongs to the namespace %s', (host, owner) => {
    expect(ownerOfHost(host, 'example.com', namespaces)).toBe(owner)
  })

  test('longerNames and shorterNames find the namespaces whose hosts could be confused', () => {
    expect(longerNames('dev', namespaces)).toEqual(['shop-dev'])
    expect(shorterNames('shop-dev', namespaces)).toEqual(['dev'])
  })
})

describe('roles', () => {
  const actions: readonly NamespaceAction[] = [
    'see',
    'deploy',
    'wake',
    'sleep',
    'share',
    'variables',
    'delete',
    'transfer',
  ]
  const table = (platform: 'admin' | 'developer') =>
    Object.fromEntries(
      [...NAMESPACE_ROLES, undefined].map(namespace => [
        namespace ?? 'stranger',
        actions.filter(action => mayDo({ platform, namespace }, action)).join(' '),
      ]),
    )

  test('each role in a namespace allows its own actions', () => {
    expect(table('developer')).toEqual({
      owner: 'see deploy wake sleep share variables delete',
      developer: 'see deploy wake sleep variables',
      viewer: 'see wake',
      stranger: '',
    })
  })

  test('administrators may manage namespaces of others, but not deploy or set variables there', () => {
    expect(table('admin').stranger).toBe('see wake sleep share delete transfer')
  })
})

test.each([
  'PATH',
  'HOME',
  'SHELL',
  'IFS',
  'ENV',
  'BASH_ENV',
  'KUBECONFIG',
  'HTTP_PROXY',
  'https_proxy',
  'LD_PRELOAD',
  'DYLD_INSERT_LIBRARIES',
  'NODE_OPTIONS',
  'GIT_SSH_COMMAND',
  'SSH_AUTH_SOCK',
  'PYTHONPATH',
  'PYTHON_HOME',
  'PERL5LIB',
  'RUBYOPT',
  'JAVA_TOOL_OPTIONS',
  '_JAVA_OPTIONS',
  'DOCKER_HOST',
  'HELM_PLUGINS',
  'DEVCTL_URL',
  'node_options',
  'NPM_CONFIG_REGISTRY',
  'npm_config_script_shell',
  'PIP_INDEX_URL',
  'GOPROXY',
  'GOFLAGS',
  'CARGO_HOME',
  'RUSTC_WRAPPER',
  'MAKEFLAGS',
  'MAVEN_OPTS',
  'JDK_JAVA_OPTIONS',
  'DOTNET_STARTUP_HOOKS',
  'ZDOTDIR',
  'PS4',
  'PROMPT_COMMAND',
  'BASH_FUNC_ls',
  'LESSOPEN',
  'EDITOR',
  'KUBECTL_EXTERNAL_DIFF',
  'GCONV_PATH',
  'OPENSSL_CONF',
  'SSL_CERT_FILE',
  'XDG_CONFIG_HOME',
  'COMPOSE_FILE',
  'AWS_CONFIG_FILE',
  'TAR_OPTIONS',
  'AWS_PAGER',
  'FZF_DEFAULT_OPTS',
  'USE_BAZEL_VERSION',
  'TG_AUTH_PROVIDER_CMD',
  'TERRAGRUNT_AUTH_PROVIDER_CMD',
  'RCLONE_SFTP_SSH',
  'RCLONE_METADATA_MAPPER',
  'RESTIC_FROM_PASSWORD_COMMAND',
  'CCACHE_PREFIX_CPP',
  'CYPRESS_INSTALL_BINARY',
  'ELECTRON_MIRROR',
  'ESBUILD_BINARY_PATH',
  'PUPPETEER_EXECUTABLE_PATH',
  'JVM_OPTS',
  'LEIN_JVM_OPTS',
  'CATALINA_OPTS',
  'GRADLE_OPTS',
  'FCEDIT',
  'FZF_DEFAULT_COMMAND',
  'SVN_SSH',
  'WORKER_COMMAND',
  'PSQL_EDITOR',
  'SUDO_ASKPASS',
  'RSYNC_RSH',
  'GOAUTH',
  'GOCACHEPROG',
  'CC',
  'JAVACMD',
  'CLOUDSDK_PYTHON_ARGS',
  'SOPS_AGE_KEY_CMD',
  'RESTIC_PASSWORD_COMMAND',
  'MANPAGER',
  'LIBMYSQL_PLUGIN_DIR',
  'TS_NODE_PROJECT',
  'MVNW_REPOURL',
  'COR_PROFILER_PATH',
  'Lua_Path',
  'ANSIBLE_CONFIG',
  'COREPACK_NPM_REGISTRY',
  'my_http_PROXY',
  'a2_PROXY',
  'DEVCTL_TOKEN',
  'devctl_compose_volume_affinity_enabled',
  '1A',
  'A-B',
  '',
  'A=B',
  'A'.repeat(129),
])('the variable %s is refused', name => {
  expect(variableNameProblem(name)).toBeDefined()
})

test.each([
  'DATABASE_URL',
  'CREDITOR',
  'COMMAND',
  'CACHE_PREFIX',
  'MIRROR_URL',
  'MAVEN_PASSWORD',
  'RESTIC_PASSWORD',
  'GREETING',
  '_x',
  'PATHS',
  'MY_PATH',
  'PROXY_HOST',
  'NODES',
  'GITHUB_TOKEN',
  'AWS_ACCESS_KEY_ID',
  'COMPOSE_PROFILES',
  'PAGER_URL',
  'GOOGLE_CLIENT_ID',
  'CCC',
  'DEVCTL_BASE_REGISTRY',
  'DEVCTL_COMPOSE_VOLUME_AFFINITY_ENABLED',
  'DEVCTL_TOLERATE_FAILURES',
])('the variable %s is allowed', name => {
  expect(variableNameProblem(name)).toBeUndefined()
})

test('a refused variable name is refused in any case, and an allowed one is valid in a shell', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,9}$/)), name => {
      const isAllowed = variableNameProblem(name) === undefined
      if (isAllowed) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/)
      if (isAllowed) expect(variableNameProblem(name.toLowerCase())).toBeUndefined()
      for (const family of ['LD_', 'NODE_', 'GIT_', 'python', 'Devctl_', '_java_'])
        expect(variableNameProblem(`${family}${name}`)).toBeDefined()
      expect(variableNameProblem(`${name}_proxy`)).toBeDefined()
    }),
  )
})
