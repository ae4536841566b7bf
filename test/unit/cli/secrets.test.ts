import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

/** Secret that none of our own texts contains, with characters that quoting and encodings change. */
const SECRET = "h%nt'er2 q+x"
const OLD = 'oldvalue-77'
const VARIABLE = '${MYSQL_ROOT_PASSWORD}'

/** Every place of the model that manifests show, and some that they do not: `@` stands for the value. */
const PLACES: readonly (readonly [name: string, service: string, rest?: string])[] = [
  ['command, a list', 'command: [app, -p, @]'],
  ['command, a text', 'command: app -p "@"'],
  ['entrypoint', 'entrypoint: [app, "--password=@"]'],
  ['health check, exec', 'healthcheck: {test: [CMD, check, @]}'],
  ['health check, shell', 'healthcheck: {test: "check @"}'],
  ['label', 'labels: {team: @}'],
  ['label of a list', 'labels: ["team=@"]'],
  ['annotation', 'annotations: {note: @}'],
  ['label of deploy', 'deploy: {labels: {note: @}}'],
  ['variable', 'environment: {BANNER: "hello @"}'],
  ['variable of a list', 'environment: ["BANNER=@"]'],
  ['working directory', 'working_dir: "/srv/@"'],
  ['hook', 'post_start: [{command: [sh, -c, @]}]'],
  ['variable of a hook', 'pre_stop: [{command: [x], environment: {BANNER: @}}]'],
  ['config', 'configs: [site]', 'configs: {site: {content: @}}'],
  ['config of a variable', 'configs: [site]', 'configs: {site: {environment: MYSQL_ROOT_PASSWORD}}'],
  ['target of a mount', 'volumes: [{type: volume, source: data, target: "/data/@"}]', 'volumes: {data: {}}'],
  ['tmpfs', 'tmpfs: ["/tmp/@"]'],
  ['label of a volume', 'volumes: ["data:/data"]', 'volumes: {data: {labels: {note: @}}}'],
  ['build argument', 'build: {context: ., args: {A: @}}'],
  ['extension', 'x-note: @'],
  ['option of logging', 'logging: {options: {key: @}}'],
]

const compose = (value: string, [, service, rest = '']: (typeof PLACES)[number]) => {
  const quoted = (text: string) =>
    text.replace(/"([^"]*)@([^"]*)"|@/g, (_, before = '', after = '') => JSON.stringify(`${before}${value}${after}`))
  return `name: shop\nservices:\n  db:\n    image: mysql:9\n    ${quoted(service)}\n${quoted(rest)}\n`
}
const usual = ['--namespace', 'shop', '--domain', 'dev.example.com', '--registry', 'registry.example.com']
const env = { MYSQL_ROOT_PASSWORD: SECRET }

/** Returns the forms that a secret can take in an output. */
const formsOf = (secret: string) => [
  secret,
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(JSON.stringify(secret).slice(1, -1)).slice(1, -1),
  secret.replaceAll("'", "''"),
  secret.replaceAll('%', '%25'),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, '').slice(0, -1),
]

function expectNowhere(secret: string, text: string): void {
  for (const form of formsOf(secret)) expect(text).not.toContain(form)
}

describe('a secret variable, wherever it stands', () => {
  test.each(PLACES.map(place => ({ name: place[0], place })))('a secret is hidden in $name', async ({ place }) => {
    const files = {
      'compose.yaml': compose(VARIABLE, place),
      'devctl.yml': 'environments: {staging: {namespace: shop}}\n',
      Dockerfile: 'FROM alpine:3\n',
    }
    const folder = makeFolder(files)
    const devctl = (...argv: string[]) => run(argv, { cwd: folder, env })
    const written = (command: string, ...argv: string[]) => devctl(command, ...argv, ...usual)

    const checked = await written('validate', '--environment', 'staging', '--for-repository')
    const rendered = await written('render', '--include-secrets', '--output-dir', 'k8s')
    expect(rendered.status, rendered.stderr).toBe(0)
    const manifests = Object.values(read(join(folder, 'k8s'))).join('\n')
    const isShown = formsOf(SECRET).some(form => manifests.includes(form))
    // The files are refused if the manifests would show the secret, and only then.
    expect(checked.stderr.includes('secrets/secret-origin'), checked.stderr).toBe(isShown)
    const plain = await written('render')
    expect(plain.stderr.includes('secrets/plain-text')).toBe(isShown)
    expect(rendered.stderr).not.toContain('secrets/plain-text')

    // The old value is in the manifests, and the new one in the files.
    const texts = [checked.stderr, checked.stdout, plain.stderr, rendered.stderr]
    write(folder, { 'compose.yaml': compose(OLD, place) })
    rmSync(join(folder, 'k8s'), { recursive: true })
    const before = await written('render', '--include-secrets', '--output-dir', 'k8s')
    expect(before.status, before.stderr).toBe(0)
    write(folder, { 'compose.yaml': compose(VARIABLE, place) })
    for (const output of ['text', 'json']) {
      const { stdout, stderr } = await written('diff', '--against', 'k8s', '--output', output)
      texts.push(stdout, stderr)
      // A config with another content is another object.
      if (isShown && !place[0].startsWith('config')) expect(stdout).toContain('***')
    }
    for (const output of ['json', 'sarif']) texts.push((await written('validate', '--output', output)).stdout)
    for (const text of texts) expectNowhere(SECRET, text)
    // The names of memory volumes contain their paths, so the old value is shown as a name.
    if (isShown && place[0] !== 'tmpfs') for (const text of texts) expectNowhere(OLD, text)
  })
})

const project = (service: string, more = '') =>
  `name: shop\nservices:\n  db:\n    image: mysql:9\n    ${service}\n${more}`
const refused = async (files: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>> = {}) => {
  const folder = makeFolder({ 'devctl.yml': 'environments: {staging: {namespace: shop}}\n', ...files })
  return run(['validate', '--environment', 'staging', '--for-repository', ...usual], { cwd: folder, env: variables })
}

describe('sources of secrets', () => {
  test.each([
    ['the shell', {}, { DB_PASSWORD: 'hunter2' }, '${DB_PASSWORD}'],
    ['.env', { '.env': 'DB_PASSWORD=hunter2\n' }, {}, '${DB_PASSWORD}'],
    ['another variable of .env', { '.env': 'DB_PASSWORD=hunter2\nOTHER=x${DB_PASSWORD}\n' }, {}, '${OTHER}'],
    ['a default', {}, {}, '${DB_PASSWORD:-hunter2}'],
    ['a variable in a default', {}, { DB_PASSWORD: 'hunter2' }, '${LEVEL:-${DB_PASSWORD}}'],
    ['a short value', {}, { DB_PASSWORD: 'a' }, '${DB_PASSWORD}'],
    ['a common value', {}, { DB_PASSWORD: 'postgres' }, '${DB_PASSWORD}'],
  ])('a secret from %s is refused', async (_, files, variables, value) => {
    const found = await refused({ 'compose.yaml': project(`command: [app, "-p${value}"]`), ...files }, variables)
    expect(found.status).toBe(1)
    expect(found.stderr).toContain('secrets/secret-origin')
    expect(found.stderr).not.toContain('hunter2')
  })

  test.each([
    ['whether a variable is set', '${DB_PASSWORD:+yes}', { DB_PASSWORD: 'hunter2' }],
    ['a variable without a secret name', '${LEVEL}', { LEVEL: 'hunter2' }],
    ['where a secret is', '${DB_PASSWORD_FILE}', { DB_PASSWORD_FILE: '/run/secrets/db' }],
    ['a dollar sign', '$${DB_PASSWORD}', { DB_PASSWORD: 'hunter2' }],
  ])('%s is not a secret', async (_, value, variables) => {
    const { status, stderr } = await refused({ 'compose.yaml': project(`command: [app, "${value}"]`) }, variables)
    expect(status, stderr).toBe(0)
  })

  test('a variable that `secrets` use is a secret, whatever its name is', async () => {
    const more = 'secrets: {token: {environment: PLAIN}}\n'
    const files = { 'compose.yaml': project('command: [app, "${PLAIN}"]\n    secrets: [token]', more) }
    expect((await refused(files, { PLAIN: 'abc' })).stderr).toContain(
      '`services.db.command` contains the secret value of `PLAIN`',
    )
  })

  test('a file that `secrets` use is a secret under another name, too', async () => {
    const more = 'secrets: {token: {file: ./token.txt}}\nconfigs: {copy: {file: ./token.txt}}\n'
    const files = {
      'compose.yaml': project('secrets: [token]\n    configs: [copy]', more),
      'token.txt': 'correct-horse-7\n',
    }
    expect((await refused(files)).stderr).toContain('`configs.copy` contains the value of a secret')
  })

  test('a value that an env file makes of a secret is refused', async () => {
    const files = { 'compose.yaml': project('env_file: db.env'), 'db.env': 'NOTE=db/${DB_PASSWORD}\n' }
    const { stderr } = await refused(files, { DB_PASSWORD: 'hunter2' })
    expect(stderr).toContain('`services.db.environment.NOTE`')
    expect(stderr).not.toContain('hunter2')
  })

  test('a value that is listed as public is not a secret', async () => {
    const devctl = 'environments: {staging: {namespace: shop, secrets: {public: [services.db.command]}}}\n'
    const files = { 'compose.yaml': project('command: [app, "${DB_PASSWORD}"]'), 'devctl.yml': devctl }
    expect(await refused(files, { DB_PASSWORD: 'abc' })).toMatchObject({ status: 0 })
  })
})

describe('output', () => {
  test('messages contain no secret', async () => {
    const folder = makeFolder({ 'compose.yaml': project('ports: ["${API_TOKEN}:80"]\n    restart: "${API_TOKEN}"') })
    const variables = { API_TOKEN: 'hunter2-x', GITHUB_ACTIONS: 'true' }
    const { status, stderr } = await run(['render', ...usual], { cwd: folder, env: variables })
    expect(status).toBe(1)
    expect(stderr).toContain('***')
    expect(stderr).not.toContain('hunter2')
  })

  test('a short secret is hidden only if it is the whole value', async () => {
    const folder = makeFolder({ 'compose.yaml': project('command: [app, "${DB_PASSWORD}", data]') })
    const devctl = (...argv: string[]) => run([...argv, ...usual], { cwd: folder, env: { DB_PASSWORD: 'a' } })
    await devctl('render', '--output-dir', 'k8s')
    write(folder, { 'compose.yaml': project('command: [app, b, data]') })
    const { stdout } = await devctl('diff', '--against', 'k8s')
    expect(stdout).toContain('deployment/db')
    expect(stdout).toContain('spec.template.spec.containers[db].args')
    expect(stdout).toMatch(/^ {7}- \*\*\*$/m)
  })

  test.each(['text', 'json', 'sarif'])('the output as %s contains no control characters', async output => {
    const name = 'a\u001b[2Jb\u202ec\u0085::error::x'
    const folder = makeFolder({ 'compose.yaml': `services:\n  db:\n    image: x\n    ${JSON.stringify(name)}: 1\n` })
    const variables = { GITHUB_ACTIONS: 'true' }
    const { stdout, stderr } = await run(['validate', '--output', output], { cwd: folder, env: variables })
    for (const text of [stdout, stderr]) expect(text).not.toMatch(/[\u001b\u0085\u202e]/)
    if (output !== 'text') expect(stdout.replaceAll('\\u202e', '\u202e')).toContain('\u202e')
    if (output !== 'text') expect(JSON.stringify(JSON.parse(stdout))).toContain('\u202e')
    expect(stderr.split('\n').filter(line => line.startsWith('::error::x'))).toEqual([])
  })

  test('differences are shown without control characters', async () => {
    const folder = makeFolder({ 'compose.yaml': project('labels: {note: old}') })
    const devctl = (...argv: string[]) => run([...argv, ...usual], { cwd: folder, env: {} })
    await devctl('render', '--output-dir', 'k8s')
    write(folder, { 'compose.yaml': project('labels: {note: "new\\e[8m\\u202e\\r"}') })
    const { stdout } = await devctl('diff', '--against', 'k8s')
    expect(stdout).toContain('new\\u{1b}[8m\\u{202e}\\u{d}')
    expect((await devctl('render')).stdout).not.toMatch(/[\u001b\u202e]/)
  })
})

describe('the tag of an image', () => {
  const tagOf = async (build: string, env: Readonly<Record<string, string>>) => {
    const files = { 'compose.yaml': `name: shop\nservices: {web: {build: ${build}}}\n`, 'b/Dockerfile': 'FROM x\n' }
    const { stdout, stderr } = await run(['render', ...usual], { cwd: makeFolder(files), env })
    expect(stdout, stderr).toMatch(/image: registry\.example\.com\/shop-web:[0-9a-f]{12}$/m)
    return /shop-web:(\w+)$/m.exec(stdout)![1]
  }

  // A user who sees the tag could try all values of a weak secret.
  test.each([
    ['an argument', '{context: b, args: {A: "${DB_PASSWORD}"}}'],
    ['an argument with more in it', '{context: b, args: ["A=x:${DB_PASSWORD}@y"]}'],
    ['an argument of the same name', '{context: b, args: [DB_PASSWORD]}'],
    ['the Dockerfile', '{context: b, dockerfile_inline: "FROM x\\nENV A=${DB_PASSWORD}"}'],
    ['an address', '"https://user:${DB_PASSWORD}@example.com/a.git"'],
    ['an argument of an address', '{context: "https://example.com/a.git", args: {A: "${DB_PASSWORD}"}}'],
  ])('the tag does not depend on a secret in %s', async (_, build) => {
    expect(await tagOf(build, { DB_PASSWORD: 'hunter-4711' })).toBe(await tagOf(build, { DB_PASSWORD: 'winter-4812' }))
  })

  test('the tag depends on all other values', async () => {
    const [one, other] = ['{context: b, args: {A: "${MODE}", B_TOKEN: x12345}}', '{context: b, args: {A: "${MODE}"}}']
    const tags = [await tagOf(one, { MODE: 'a' }), await tagOf(one, { MODE: 'b' }), await tagOf(other, { MODE: 'a' })]
    expect(new Set(tags).size).toBe(3)
  })
})

describe('a message about a mistake', () => {
  const service = (lines: string, rest = '') => ({
    'compose.yaml': `name: shop\nservices:\n  web:\n    image: nginx\n    ${lines}\n${rest}`,
  })
  const V = '"${DB_PASSWORD}"'
  const mistakes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    'the image': { 'compose.yaml': 'services: {web: {image: "registry/${DB_PASSWORD}:1"}}\n' },
    'the container name': service(`container_name: ${V}`),
    'the name of a volume': service('volumes: ["data:/data"]', `volumes: {data: {name: ${V}}}\n`),
    'the target of a volume': service('volumes: ["data:${DB_PASSWORD}"]', 'volumes: {data: {}}\n'),
    'the file of a config': service('configs: [c]', 'configs: {c: {file: "./${DB_PASSWORD}.txt"}}\n'),
    'the key of a label': service('labels: ["${DB_PASSWORD}=x"]'),
    'a label of the platform': service(`labels: {dev.platform/update: ${V}}`),
    'a health check': service(`healthcheck: {test: [${V}, x], interval: ${V}}`),
    'a port': service('ports: ["${DB_PASSWORD}:80"]'),
    'a hook': service(`post_start: [{command: [sh, ${V}], user: ${V}}]`),
    'the path of an endpoint': service('expose: [80]', `endpoints: [{path: ${V}, service: web, port: 80}]\n`),
    'the host of an endpoint': service('expose: [80]', `endpoints: [{path: /, service: web, port: 80, host: ${V}}]\n`),
    'the service of an endpoint': service('expose: [80]', `endpoints: [{path: /, service: ${V}, port: 80}]\n`),
    references: service(`depends_on: [${V}]\n    networks: [${V}]\n    links: [${V}]\n    extends: {service: ${V}}`),
    amounts: service(`mem_limit: ${V}\n    cpus: ${V}\n    stop_grace_period: ${V}\n    scale: ${V}`),
    words: service(`restart: ${V}\n    pull_policy: ${V}\n    platform: ${V}\n    cap_add: [${V}]\n    init: ${V}`),
    'a message of an expression': service('command: ["${X:?${DB_PASSWORD} is needed}"]'),
    'an env file that is missing': service('env_file: "./${DB_PASSWORD}.env"'),
    'an include that is missing': { 'compose.yaml': 'include: ["./${DB_PASSWORD}.yaml"]\n' },
    'a build': { 'compose.yaml': `services: {web: {build: {context: "./\${DB_PASSWORD}", target: ${V}}}}\n` },
    'the name of the project': { 'compose.yaml': `name: ${V}\nservices: {web: {image: nginx}}\n` },
    'an open quote of .env': { ...service('command: x'), '.env': `API_TOKEN="Zx9-quartz'Vb7\nquartz VB=1\n` },
    'an open quote of an env file': {
      ...service('env_file: a.env'),
      'a.env': `A=1\nAPI_TOKEN='Zx9-quartz Vb7\nand quartz again\n`,
    },
    'an expression of .env': { ...service('command: x'), '.env': 'API_TOKEN=quartz${bad-\n' },
    'a name of .env': { ...service('command: x'), '.env': 'API TOKEN=quartz\nDB!PASSWORD=quartz\n' },
  }
  test('a message shows a name in a list as it is written, not its value from elsewhere', async () => {
    const files = { ...service('environment: [A=1, "API_TOKEN", "B=2"]'), '.env': 'API_TOKEN=Zx9-quartz\n' }
    const { stderr } = await run(['validate', '--for-repository'], { cwd: makeFolder(files) })
    expect(stderr).toContain(
      ' 5 |     environment: [A=1, "API_TOKEN", "B=2"]\n   |                        ^^^^^^^^^^^\n',
    )
  })

  const words = [['render'], ['validate', '--output', 'json'], ['validate', '--for-repository'], ['config']]

  test.each(Object.entries(mistakes))('a message shows no secret: %s', async (_, files) => {
    const folder = makeFolder(files)
    for (const command of words) {
      const { stdout, stderr } = await run(command, { cwd: folder, env: { DB_PASSWORD: "Zx9-quartz'Vb7" } })
      const told = command[0] === 'validate' ? stdout + stderr : stderr
      expect(told.toLowerCase(), command.join(' ')).not.toContain('quartz')
    }
  })
})

describe('a secret that is also a name of the project', () => {
  const files = (restart: string) => ({
    'compose.yaml': `name: acme-platform
services:
  nextcloud-9:
    image: registry.example.com/team/wordpressdb1:27
    container_name: billing-backend
    restart: ${restart}
    ports: ["80:80"]
    depends_on: [db]
    working_dir: /srv/data
    environment: {POSTGRES_USER: wordpressdb1, DB_PASSWORD: wordpressdb1, AWS_SECRET_ACCESS_KEY: acme-platform, API_TOKEN: nextcloud-9}
  db:
    image: postgres:16
    restart: always
    user: wordpressdb1
    environment: {POSTGRES_PASSWORD: wordpressdb1, POSTGRES_DB: wordpressdb1, URL: "postgres://wordpressdb1:wordpressdb1@db/wordpressdb1"}
`,
  })
  const devctl = (folder: string, ...argv: string[]) =>
    run(argv, { cwd: folder, env: { ROOT_PASSWORD: 'billing-backend' } })
  const options = ['--namespace', 'billing-backend', '--domain', 'acme-platform.example.com']

  test('the name stays readable in messages, their excerpts and their JSON', async () => {
    const folder = makeFolder(files('sometimes'))
    const { stderr } = await devctl(folder, 'validate')
    expect(stderr).toContain('`restart` of service `nextcloud-9` cannot be `sometimes`')
    const { stdout } = await devctl(folder, 'validate', '--output', 'json')
    expect(stdout).toContain('`nextcloud-9`')
    expect(stdout + stderr).not.toContain('***')
    write(folder, files('always'))
    const user = await devctl(folder, 'validate')
    expect(user.stderr).toContain('`user: wordpressdb1` is a name')
    expect(user.stderr).toContain('    user: wordpressdb1\n')
  })

  test('a name on the command line stays readable before the files are read', async () => {
    const folder = makeFolder({ 'compose.yaml': 'services: [' })
    const variables = { A_PASSWORD: 'long-name-77', B_PASSWORD: 'other-file-78' }
    const { stderr } = await run(
      ['validate', '--environment', 'long-name-77', '-f', 'other-file-78/long-name-77.yaml'],
      { cwd: folder, env: variables },
    )
    expect(stderr).toContain('environment `long-name-77` needs a manifest')
    const missing = await run(['render', '-f', 'other-file-78/long-name-77.yaml'], { cwd: folder, env: variables })
    expect(missing.stderr).toContain('other-file-78/long-name-77.yaml')
    expect(missing.stderr + stderr).not.toContain('***')
  })

  test('the secret is masked in an excerpt of its own line', async () => {
    const folder = makeFolder({
      'compose.yaml':
        'services: {wordpressdb1: {image: x, environment: {A_TOKEN: wordpressdb1}}, web: {restart: sometimes}}\n',
    })
    const { stderr } = await devctl(folder, 'validate')
    expect(stderr).toContain('{wordpressdb1: {image: x, environment: {A_TOKEN: ***}}, web:')
  })

  test.each(['text', 'json'])(
    'the secret is masked in a difference as a value, and stays readable in names: %s',
    async output => {
      const folder = makeFolder(files('always'))
      expect((await devctl(folder, 'render', '--include-secrets', '--output-dir', 'k8s', ...options)).status).toBe(0)
      write(folder, {
        'compose.yaml': files('always')
          ['compose.yaml'].replace('team/wordpressdb1:27', 'team/wordpressdb1:28')
          .replace('working_dir: /srv/data', 'working_dir: /srv/wordpressdb1')
          .replace(
            'restart: always\n    user',
            'command: [run, --password, wordpressdb1, "postgres://a:wordpressdb1@wordpressdb1-0/x"]\n    user',
          ),
      })
      const { stdout } = await devctl(folder, 'diff', '--against', 'k8s', '--output', output, ...options)
      expect(stdout).toContain('registry.example.com/team/wordpressdb1:28')
      expect(stdout).toContain('/srv/wordpressdb1')
      expect(stdout).toContain('deployment/nextcloud-9')
      expect(stdout).toContain('postgres://a:***@wordpressdb1-0/x')
      expect(stdout).not.toMatch(/^ *\+? *"?wordpressdb1"?,?$/m)
    },
  )

  test('a secret that a name contains is masked', async () => {
    const compose = `services:\n  web:\n    image: "x/\${DB_PASSWORD}"\n    working_dir: "/srv/\${DB_PASSWORD}"\n    hostname: "\${DB_PASSWORD}"\n    user: "\${DB_PASSWORD}"\n    extra_hosts: ["\${DB_PASSWORD}:1.2.3.4"]\n`
    const folder = makeFolder({ 'compose.yaml': compose })
    const { stdout, stderr } = await run(['validate', '--output', 'json'], {
      cwd: folder,
      env: { DB_PASSWORD: 'quartz-9-quartz' },
    })
    expect(stdout + stderr).toContain('***')
    expect(stdout + stderr).not.toContain('quartz')
  })
})
