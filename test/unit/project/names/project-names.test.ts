import { expect, test } from 'vitest'
import { KnownSecrets } from '../../../../compiler/values/secrets/known-secrets.ts'
import { compileFiles } from '../../../../project/compile-files.ts'
import { workspaceOf } from '../../../../project/workspace.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const compose = `name: acme-platform
services:
  billing-api:
    image: registry.example.com/team/storefront-1:27
    container_name: the-container
    hostname: the-hostname
    user: the-user:the-group
    working_dir: /srv/work-dir
    tmpfs: [/tmp/scratch-dir]
    environment:
      POSTGRES_USER: the-pg-user
      MYSQL_DATABASE: the-database
      S3_BUCKET: the-bucket
      QUEUE_URL: amqp://the-mq-user:x@the-mq-host:5672/the-vhost
    volumes: ["the-claim:/var/lib/mount-target", "./host-folder:/x"]
    networks: {the-network: {aliases: [the-alias]}}
    extra_hosts: ["the-extra-host:1.2.3.4"]
    configs: [{source: the-config, target: /etc/the-target}]
    secrets: [the-secret]
    ports: [{target: 80, published: 80, x-host: shop.example.com}]
  builder-1: {build: {context: ./the-context, args: {APP_NAME: the-arg-name}}}
volumes: {the-claim: {}}
networks: {the-network: {}}
configs: {the-config: {content: x}}
secrets: {the-secret: {file: ./the-file.txt}}
`

/** The secrets that are known after a compilation. */
async function compiled(
  values: readonly string[],
  files: Readonly<Record<string, string>>,
  {
    env = {},
    given = [],
  }: { readonly env?: Readonly<Record<string, string>>; readonly given?: readonly string[] } = {},
): Promise<KnownSecrets> {
  const secrets = new KnownSecrets(values)
  const workspace = { ...workspaceOf({ cwd: makeFolder(files), env }), secrets, givenVariables: new Set(given) }
  const planning = {
    name: 'option-name',
    namespace: 'option-namespace',
    domain: 'option-domain.example',
    registry: 'r.example/option-path',
  }
  await compileFiles(workspace, [], {}, planning)
  return secrets
}

test.each(
  `acme-platform billing-api registry.example.com storefront-1 team/storefront-1 the-container the-hostname the-user the-group
/srv/work-dir work-dir scratch-dir the-pg-user the-database the-bucket the-mq-user the-mq-host the-vhost the-claim mount-target
host-folder the-network the-alias the-extra-host the-config the-target the-secret shop.example.com builder-1 the-context
the-arg-name the-file.txt option-name option-namespace option-domain.example option-domain option-path
acme-platform_the-claim option-name-billing-api builder-1-option-name acme-platform-builder-1`.split(/\s+/),
)('%s is a name of the project', async name => {
  const secrets = await compiled([name], { 'compose.yaml': compose, 'the-file.txt': 'correct-horse' })
  expect(secrets.maskOutput(`https://x/${name}-web`)).toBe(`https://x/${name}-web`)
  expect(secrets.maskOutput(`X=${name}`)).toBe('X=***')
  expect(secrets.mask(`the \`${name}\``)).toBe(`the \`${name}\``)
  expect(secrets.mask(`password=${name} correct-horse x-correct-horse`)).toBe('password=*** *** x-***')
})

test.each(['the-label', 'the-argument', 'the-content', 'https://the-path'])('%s is not a project name', async value => {
  const files = {
    'compose.yaml': `services: {web: {image: x, labels: {a: ${value}}, command: [${value}], environment: {NOTE: "${value}"}, configs: [c]}}\nconfigs: {c: {content: "${value}"}}\n`,
  }
  expect((await compiled([value], files)).mask(`x-${value}-y \`${value}\``)).toBe('x-***-y `***`')
})

test('a value of a secret variable is not a name of the project', async () => {
  const files = {
    'compose.yaml':
      'services: {web: {image: "x/${DB_PASSWORD}", hostname: "${OTHER}", working_dir: "/srv/${DB_PASSWORD}", container_name: "${A_TOKEN:-quartz-two}"}}\n',
    '.env': 'OTHER=${DB_PASSWORD}-x\n',
  }
  const secrets = await compiled([], files, { env: { DB_PASSWORD: 'quartz-one' } })
  for (const text of ['x/quartz-one', '/srv/quartz-one', 'quartz-one-x', '`quartz-two`'])
    for (const shown of [secrets.mask(text), secrets.maskOutput(text)]) expect(shown).not.toContain('quartz')
})

test('a variable that is secret only because it was given makes names, but no paths', async () => {
  const files = {
    'compose.yaml':
      'services: {web: {image: "team/${APP}:${TAG}", working_dir: "/srv/${PLACE}", ports: [{target: 80, published: 80, x-host: "${HOST}"}], hostname: "${A_TOKEN}"}}\n',
  }
  const env = {
    APP: 'storefront-1',
    TAG: 'release-77',
    HOST: 'shop.example.com',
    PLACE: 'place-78',
    A_TOKEN: 'quartz-one',
  }
  const secrets = await compiled(Object.values(env), files, { env, given: Object.keys(env) })
  const text = 'https://shop.example.com/ storefront-1-web team/storefront-1:release-77'
  expect(secrets.mask(text)).toBe(text)
  expect(secrets.maskOutput(text)).toBe(text)
  expect(secrets.maskOutput('x=release-77 y=storefront-1')).toBe('x=*** y=***')
  expect(secrets.mask('x/release-77 /srv/place-78 x/quartz-one')).toBe('x/*** /srv/*** x/***')
})
