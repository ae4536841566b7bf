import { expect, test } from 'vitest'
import { compileWatched } from '../support/hostile/watched.ts'

const many = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n)).join('')
const web = 'services:\n  web:\n    image: nginx\n'
const services = (count: number, fields: (n: number) => string) =>
  `services:\n${many(count, n => `  s${n}: {image: nginx, ${fields(n)}}\n`)}`

/**
 * Inputs that are large in one way each. They end in manifests or in diagnostics, within the limits of
 * `compileWatched`.
 */
const inputs: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '50,000 unknown keys': { 'compose.yaml': web + many(50_000, n => `key${n}: 1\n`) },
  '50,000 unknown keys of similar names': { 'compose.yaml': web + many(50_000, n => `service_of_length_${n}: 1\n`) },
  'labels that 500 services share': {
    'compose.yaml': `x-l: &l {${many(90, n => `k${n}: v, `)}}\n${services(500, () => 'labels: *l')}`,
  },
  'a list of 1,000 merge keys': {
    'compose.yaml': `${many(1_000, n => `x-${n}: &a${n} {k${n}: v}\n`)}${web}    labels:\n      <<: [${many(1_000, n => `*a${n}, `)}]\n`,
  },
  'volumes that services borrow from each other': {
    'compose.yaml': services(1_000, n => `volumes: ["/v${n}"]${n > 0 ? `, volumes_from: [s${n - 1}]` : ''}`),
  },
  'labels of a service with many aliases': {
    'compose.yaml': `${web}    labels: [${many(2_000, n => `label${n}, `)}]\n    networks: {default: {aliases: [${many(2_000, n => `a${n}, `)}]}}\n`,
  },
  'anchors in anchors': { 'compose.yaml': `x-a: ${many(3_000, n => `&a${n} [`)}1${']'.repeat(3_000)}\n${web}` },
  'an env file of 190,000 lines': {
    'compose.yaml': `${web}    env_file: a.env\n`,
    'a.env': many(190_000, n => `A${n}=\${A${n - 1}}b\n`),
  },
  'an env file of open quotes': {
    'compose.yaml': `${web}    env_file: a.env\n`,
    'a.env': many(100_000, n => `A_TOKEN${n}="x\n`),
  },
  'an env file of 100 services': {
    'compose.yaml': services(100, () => 'env_file: a.env'),
    'a.env': many(1_900, n => `A${n}=b\n`),
  },
  'an extends chain that grows': {
    'compose.yaml': `services:\n  s0: {image: nginx}\n${many(3_000, n => `  s${n + 1}: {extends: s${n}, environment: {A${n}: v}}\n`)}`,
  },
  'services of another file': {
    'compose.yaml': `services:\n${many(2_000, n => `  s${n}: {extends: {file: b.yaml, service: s${n}}}\n`)}`,
    'b.yaml': services(2_000, () => 'user: a'),
  },
  'includes of one file': {
    'compose.yaml': `include:\n${many(900, () => '  - {path: f.yaml, env_file: e.env}\n')}`,
    'f.yaml': services(1_000, () => 'user: a'),
    'e.env': 'A=1\n',
  },
  '60,000 ports': { 'compose.yaml': `${web}    ports:\n${many(60_000, n => `      - "${n + 1}:${n + 1}"\n`)}` },
  'ranges of 100 services': { 'compose.yaml': services(100, () => 'ports: ["1000-2400:1000-2400"]') },
  'EXPOSE of all ports in 100 services': {
    'compose.yaml': `services:\n${many(100, n => `  s${n}: {build: .}\n`)}`,
    Dockerfile: `FROM a\n${'EXPOSE 1-65535\n'.repeat(50)}`,
  },
  '20,000 configs': {
    'compose.yaml': `${web}    configs: [${many(20_000, n => `c${n}, `)}]\nconfigs:\n${many(20_000, n => `  c${n}: {content: x}\n`)}`,
  },
  '20,000 secrets': {
    'compose.yaml': `${web}    secrets: [${many(20_000, n => `c${n}, `)}]\nsecrets:\n${many(20_000, n => `  c${n}: {file: s.txt}\n`)}`,
    's.txt': 'hunter-4711',
  },
  '5,000 passwords': {
    'compose.yaml': `${web}    environment: {${many(5_000, n => `A${n}_PASSWORD: "\${P${n}_PASSWORD}", `)}}\n`,
    '.env': many(5_000, n => `P${n}_PASSWORD=s3cr3t-${n}-x\n`),
  },
  'a star of 5,000 services': {
    'compose.yaml': `${services(5_000, () => 'user: a')}  hub: {image: nginx, depends_on: [${many(5_000, n => `s${n}, `)}]}\n`,
  },
  'a chain of 2,000 Jobs': {
    'compose.yaml': `services:\n  s0: {image: a, restart: "no"}\n${many(2_000, n => `  s${n + 1}: {image: a, restart: "no", depends_on: {s${n}: {condition: service_completed_successfully}}}\n`)}`,
  },
  'a cycle of 20,000': { 'compose.yaml': services(20_000, n => `depends_on: [s${(n + 1) % 20_000}]`) },
  '50,000 services of one name': { 'compose.yaml': `services:\n${'  web: {image: nginx}\n'.repeat(50_000)}` },
  '20,000 references to nothing': {
    'compose.yaml': `${services(2_000, () => 'user: a')}  a: {image: x, depends_on: [${many(20_000, n => `z${n}, `)}]}\n`,
  },
  '300 networks': {
    'compose.yaml': `${services(300, n => `expose: [80], networks: [${many(100, m => `n${(n + m) % 300}, `)}]`)}networks:\n${many(300, n => `  n${n}:\n`)}`,
  },
  'addresses of 1,000 services': {
    'compose.yaml': services(
      1_000,
      n => `environment: {${many(40, m => `U${m}: "http://s${(n + m) % 1_000}:80${m}", `)}}`,
    ),
  },
  '3,000 names that are cut alike': {
    'compose.yaml': `services:\n${many(3_000, n => `  ${'a'.repeat(80)}_${n}: {image: nginx}\n`)}`,
  },
  '10,000 volumes': {
    'compose.yaml': `${web}    volumes: [${many(10_000, n => `"v${n}:/p${n}", `)}]\nvolumes:\n${many(10_000, n => `  v${n}:\n`)}`,
  },
  '20,000 endpoints': {
    'compose.yaml': `${web}endpoints:\n${many(20_000, n => `  - {path: /p${n}, service: web, port: 80}\n`)}`,
  },
  'a group of 3,000': {
    'compose.yaml': `services:\n  s0: {image: nginx}\n${many(3_000, n => `  s${n + 1}: {image: nginx, network_mode: "service:s${n}"}\n`)}`,
  },
  'files that take each other back': {
    'compose.yaml': `${web}    labels:\n${many(20_000, n => `      k${n}: !reset null\n`)}`,
    'compose.override.yaml': `${web}    labels: !override\n${many(20_000, n => `      k${n}: v\n`)}`,
  },
  'lists of two files': {
    'compose.yaml': `${web}    environment: [${many(50_000, n => `A${n}=b, `)}]\n`,
    'compose.override.yaml': `${web}    environment: [${many(50_000, n => `A${n}=c, `)}]\n`,
  },
  'a command of a million words': { 'compose.yaml': `${web}    command: '${'"a" '.repeat(1_000_000)}'\n` },
  'a Dockerfile of 200,000 lines': {
    'compose.yaml': 'services: {web: {build: .}}\n',
    Dockerfile: `FROM a\n${many(200_000, n => `COPY a${n} /b${n}\n`)}`,
  },
  'rules of an ignore file': {
    'compose.yaml': 'services: {web: {build: .}}\n',
    Dockerfile: 'FROM a\nCOPY . .\n',
    '.dockerignore': many(1_500, n => `**/*a*a*a*${n}\n`),
    [`${`${'a'.repeat(200)}/`.repeat(8)}a`]: '',
  },
}

test.each(Object.entries(inputs))('input with %s ends in objects or errors', { timeout: 120_000 }, async (_, files) => {
  const { status, stderr } = await compileWatched(files)
  const said = stderr.slice(-2_000)
  expect([0, 1], said).toContain(status)
  expect(stderr, said).toMatch(/^\d+ (?:objects?|errors?)/m)
  expect(stderr, said).not.toContain('This is a bug of devctl')
})
