import { describe, expect, test } from 'vitest'
import { KnownSecrets } from '../../../../../compiler/values/secrets/known-secrets.ts'

const NAMES = ['acme-platform', 'wordpressdb1', 'nextcloud', '/srv/data', 'registry.example.com', 'Billing_Backend']

/** The secrets that are names of the project. */
const known = (...names: readonly string[]) => {
  const secrets = new KnownSecrets(names.length > 0 ? names : NAMES)
  secrets.addNames(names.length > 0 ? names : NAMES)
  return secrets
}

describe.each(['nextcloud', 'acme-platform', 'wordpressdb1'])('the secret %s, which is a name', name => {
  test.each([
    'https://NAME-web.example.com/',
    'https://web.NAME.example.com/x',
    'http://NAME:8080/',
    'http://localhost/NAME',
    'registry.example.com/NAME/web:1',
    'docker.io/library/NAME:27',
    'docker.io/library/web:NAME@sha256:0123',
    'namespace/NAME-staging',
    'deployment.apps/NAME created',
    'NAME-web-0',
    'NAME_data',
    'my-NAME',
    '/srv/NAME/data',
    'NAME.svc.cluster.local',
    'NAME:/var/lib/data',
    'NAME@example.com',
    'host NAME:5432 is up',
  ])('the secret stays readable within %s', text => {
    const shown = text.replaceAll('NAME', name)
    expect(known(name).mask(shown)).toBe(shown)
    expect(known(name).maskOutput(shown)).toBe(shown)
  })

  test.each([
    'password=NAME',
    'POSTGRES_PASSWORD: NAME',
    '      POSTGRES_PASSWORD: "NAME"',
    `DB_TOKEN='NAME'`,
    '- API_KEY=NAME',
    '--password=NAME --user app',
    '--password NAME',
    '["--db-password","NAME"]',
    'mysql -pNAME',
    '{"password":"NAME"}',
    '"{\\"password\\":\\"NAME\\"}"',
    'https://web.example.com/?token=NAME&x=1',
    'postgres://app:NAME@db/x',
    'redis://:NAME@cache',
    'app:NAME@tcp(db)/x',
    'curl -u admin:NAME http://x',
    'https://NAME@git.example.com/x',
  ])('the secret is masked in all texts as a password: %s', text => {
    const shown = text.replace('NAME', name)
    expect(known(name).mask(shown)).toBe(text.replace('NAME', '***'))
    expect(known(name).maskOutput(shown)).toBe(text.replace('NAME', '***'))
    expect(known(name).maskValue(shown)).toBe(text.replace('NAME', '***'))
  })

  test.each([
    'NAME',
    '"NAME"',
    'the key is NAME.',
    'X=NAME',
    'X: NAME',
    'admin:NAME',
    'one\nNAME\ntwo',
    '\u001b[32mNAME\u001b[0m',
  ])('the secret is masked where a program prints it as a value: %s', text => {
    expect(known(name).maskOutput(text.replace('NAME', name))).toBe(text.replace('NAME', '***'))
  })

  test.each([
    'service "NAME" has no image',
    'the service `NAME` is not ready',
    'NAME        ready',
    'NAME',
    '{"service":"NAME","state":"ready"}',
    'namespace: NAME',
    'secret: NAME',
    '  container_name: NAME',
  ])('the secret stays readable where devctl names it: %s', text => {
    expect(known(name).mask(text.replace('NAME', name))).toBe(text.replace('NAME', name))
  })

  test.each(['deployment "NAME" successfully rolled out', `deployment.apps "NAME" deleted`, 'database "NAME" exists'])(
    'the secret stays readable where a program says what it names: %s',
    text => {
      expect(known(name).maskOutput(text.replace('NAME', name))).toBe(text.replace('NAME', name))
    },
  )

  test('the secret is masked in base64', () => {
    const text = `data: ${Buffer.from(name).toString('base64')}`
    expect(known(name).mask(text)).toBe('data: ***')
    expect(known(name).maskOutput(text)).toBe('data: ***')
  })

  test('the secret is masked once where the user, the host and the database are the same', () => {
    const text = `postgres://${name}:${name}@${name}/${name}`
    expect(known(name).maskOutput(text)).toBe(`postgres://${name}:***@${name}/${name}`)
    expect(known(name).mask(text)).toBe(`postgres://${name}:***@${name}/${name}`)
  })

  test('the secret is masked as a value where a message quotes a log', () => {
    for (const [before, after] of [
      ['   = note: | ', '\n'],
      ['"notes":["| ', '"]'],
    ])
      expect(known(name).mask(`${before}the key is ${name}${after}`)).toBe(`${before}the key is ***${after}`)
  })

  test('the secret stays in a repository as the name of an object, and is masked in other names', () => {
    const secrets = new KnownSecrets([name])
    secrets.spare([name])
    expect(secrets.maskStrictly(`name: ${name}`)).toBe(`name: ${name}`)
    expect(secrets.maskKept(`password=${name} https://${name}-web`)).toBe(`password=*** https://${name}-web`)
    if (name !== 'nextcloud') expect(known(name).maskStrictly(`https://x-${name}-web`)).toBe('https://x-***-web')
    expect(known(name).maskKept(`https://x-${name}-web`)).toBe('https://x-***-web')
  })

  test('the secret is masked if it is the whole value of an object', () => {
    expect(known(name).maskValue(name)).toBe('***')
    expect(known(name).strict.maskValue(name)).toBe('***')
  })
})

test.each([
  ['a path', '/srv/data', ['cd /srv/data/x', './src:/srv/data', 'mounts /srv/data-old'], 'X=/srv/data'],
  [
    'a host',
    'registry.example.com',
    ['https://registry.example.com/v2', 'registry.example.com:5000/web'],
    'X=registry.example.com',
  ],
  [
    'another case',
    'Billing_Backend',
    ['deployment/billing-backend', 'billing-backend-web', 'shop-billing_backend'],
    'X=Billing_Backend',
  ],
])('%s is masked only as a whole value', (_, name, names, value) => {
  for (const text of names) {
    expect(known().maskOutput(text)).toBe(text)
    expect(known().mask(text)).toBe(text)
  }
  expect(known().maskOutput(value)).toBe('X=***')
  expect(known().mask(`PASSWORD: ${name}`)).toBe('PASSWORD: ***')
})

test('a secret within a longer name stays readable there, and is masked elsewhere', () => {
  const secrets = new KnownSecrets(['acme-platform'])
  secrets.addNames(['acme-platform-web', 'team/web:acme-platform'])
  expect(secrets.mask('https://acme-platform-web.example.com')).toBe('https://acme-platform-web.example.com')
  expect(secrets.maskOutput('image: team/web:acme-platform')).toBe('image: team/web:acme-platform')
  expect(secrets.mask('postgres://team/web:acme-platform@db')).toBe('postgres://team/web:***@db')
  expect(secrets.mask('https://acme-platform-db.example.com')).toBe('https://***-db.example.com')
  expect(secrets.mask('https://xacme-platform-web')).toBe('https://x***-web')
})

test('a secret that is no name is masked everywhere', () => {
  const secrets = new KnownSecrets(['correct-horse', 'wordpressdb1'])
  secrets.addNames(['wordpressdb1', 'horse'])
  for (const text of ['https://correct-horse-web', 'x/correct-horse', '`correct-horse`', 'service "correct-horse"'])
    for (const mask of [secrets.mask(text), secrets.maskOutput(text), secrets.maskStrictly(text)])
      expect(mask).toBe(text.replace('correct-horse', '***'))
})

test('a line of a secret of several lines may be a name', () => {
  const secrets = new KnownSecrets(['first line\nwordpressdb1\n'])
  secrets.addNames(['wordpressdb1'])
  expect(secrets.maskOutput('wordpressdb1\nx/wordpressdb1 first line')).toBe('***\nx/wordpressdb1 ***')
})

test('names may be added after their secrets, and secrets after their names', () => {
  const secrets = new KnownSecrets(['wordpressdb1'])
  expect(secrets.mask('x/wordpressdb1')).toBe('x/***')
  secrets.addNames(['wordpressdb1', 'acme-platform'])
  expect(secrets.mask('x/wordpressdb1')).toBe('x/wordpressdb1')
  secrets.add(['acme-platform'])
  expect(secrets.with(['third-secret']).mask('x/acme-platform/third-secret')).toBe('x/acme-platform/***')
})

test.each([1, 2, 3, 7])('a stream of pieces of %i characters is masked as the whole text', length => {
  const masker = known('nextcloud').outputMasker
  const text = `x/nextcloud password=nextcloud ${'y'.repeat(1100)}nextcloud\nnextcloud\nhttp://nextcloud:80 nextcloud`
  const stream = masker.stream()
  let given = ''
  for (let at = 0; at < text.length; at += length) given += stream.push(text.slice(at, at + length))
  expect(given + stream.end()).toBe(masker.mask(text))
  expect(masker.mask(text)).toBe(
    text
      .replace('=nextcloud', '=***')
      .replace('\nnextcloud', '\n***')
      .replace(/nextcloud$/, '***'),
  )
})
