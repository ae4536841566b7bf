import { describe, expect, test } from 'vitest'
import { completionsAt } from '../../../../editor/answers/completion.ts'
import { ask } from '../../../support/editor/ask.ts'

const SERVICES = `services:
  web:
    image: x
  db:
    image: y
    profiles: [debug]
  cache:
    image: z
volumes:
  data: {}
networks:
  front: {}
secrets:
  token: {environment: TOKEN}
`

/** Returns the labels of the proposals at the cursor. */
async function labels(file: string, marked: string, before?: string): Promise<readonly string[]> {
  const { asked, offset } = await ask({ [file]: marked, '.env': 'TAG=1\nexport REGISTRY=x\n' }, before)
  return completionsAt(asked, offset).map(({ label }) => label)
}

/** Returns the labels with `line` instead of the image of the service `web`. */
const inWeb = (line: string) =>
  labels(
    'compose.yaml',
    SERVICES.replace('    image: x\n', () => `${line}\n`),
    SERVICES,
  )

describe('completionsAt in a Compose file', () => {
  test.each<readonly [string, readonly string[], readonly string[]]>([
    ['    ‸', ['image', 'ports', 'depends_on', 'x-public'].slice(0, 3), ['services', 'web']],
    ['    image: x\n    po‸', ['ports'], ['image']],
    ['    restart: ‸', ['always', 'no', 'unless-stopped'], ['db']],
    ['    restart: "‸', ['always'], ['db']],
    ['    read_only: ‸', ['true', 'false'], []],
    ['    depends_on: [‸', ['db', 'cache'], []],
    ['    depends_on: [db, ‸]', ['cache'], ['db']],
    ['    depends_on:\n      - ‸', ['db', 'cache'], []],
    ['    depends_on:\n      ‸', ['db', 'cache'], []],
    ['    depends_on:\n      db:\n        condition: ‸', ['service_healthy'], ['db']],
    ['    depends_on:\n      db:\n        ‸', ['condition', 'required', 'restart'], ['db']],
    ['    extends:\n      service: ‸', ['db', 'cache'], []],
    ['    links: [‸]', ['db'], []],
    ['    network_mode: ‸', ['service:db'], ['db']],
    ['    volumes:\n      - ‸', ['data', 'type', 'target'], []],
    ['    volumes:\n      - type: ‸', ['bind', 'volume', 'tmpfs'], []],
    ['    volumes:\n      - type: volume\n        source: ‸', ['data'], []],
    ['    networks: [‸]', ['front'], ['data']],
    ['    secrets: [‸]', ['token'], ['data']],
    ['    profiles: [‸]', ['debug'], []],
    ['    image: nginx:${‸', ['TAG', 'REGISTRY'], ['image']],
    ['    image: nginx:${T‸}', ['TAG'], []],
    ['    image: nginx:$‸', ['TAG'], []],
    ['    image: nginx:$$$T‸', ['TAG'], []],
    ['    image: nginx:$${‸', [], []],
    ['    command: echo $$‸', [], []],
    ['    command: echo $$T‸', [], []],
    ['    command: echo $$$$T‸', [], []],
    ['    build: {‸}', ['context', 'dockerfile', 'target'], []],
    ['    image: ‸', [], ['db', 'image']],
    ['    command: echo # ‸', [], ['image']],
  ])('proposes at %j', async (line, some, none) => {
    const found = await inWeb(line)
    expect(found).toEqual(expect.arrayContaining([...some]))
    for (const one of none) expect(found).not.toContain(one)
    if (some.length === 0) expect(found).toEqual([])
  })

  test('proposes the keys below an anchor in a file with Windows line ends', async () => {
    const file = SERVICES.replace('  web:\n    image: x\n', '  web: &web\n    ‸\n').replaceAll('\n', '\r\n')
    expect(await labels('compose.yaml', file, SERVICES)).toEqual(expect.arrayContaining(['image', 'ports']))
  })

  test('proposes the variables of `.env`, and none of the env file of a service', async () => {
    const { asked, offset } = await ask({
      'compose.yaml': 'services:\n  web:\n    image: x:${‸\n    env_file: [web.env]\n',
      'web.env': 'OF_SERVICE=1\n',
      '.env': 'TAG=1\n',
    })
    const labels = completionsAt(asked, offset).map(({ label }) => label)
    expect(labels).toContain('TAG')
    expect(labels).not.toContain('OF_SERVICE')
  })

  test('proposes the keys of the top level at its start', async () => {
    expect(await labels('compose.yaml', '‸\n', SERVICES)).toEqual(expect.arrayContaining(['services', 'volumes']))
  })

  test('proposes names of a file that includes another one', async () => {
    const { asked, offset } = await ask({
      'compose.yaml': 'include: [other.yaml]\nservices:\n  web:\n    image: x\n    depends_on: [‸]\n',
      'other.yaml': 'services:\n  queue:\n    image: y\n',
    })
    expect(completionsAt(asked, offset).map(({ label }) => label)).toContain('queue')
  })

  test('keeps the colon of a key that is changed, and adds one to a new key', async () => {
    const textOf = async (line: string) => {
      const { asked, offset } = await ask({ 'compose.yaml': `services:\n  web:\n    image: x\n${line}` })
      const item = completionsAt(asked, offset).find(({ label }) => label === 'ports')
      return item?.textEdit
    }
    expect(await textOf('    por‸: []\n')).toMatchObject({
      newText: 'ports',
      range: { start: { character: 4 }, end: { character: 7 } },
    })
    expect(await textOf('    por‸\n')).toMatchObject({ newText: 'ports:' })
  })

  test.each([
    ['    volumes: ["da‸ta:/var/lib"]', 'data', 15, 19],
    ['    links: [d‸b:alias]', 'db', 12, 14],
    ['    volumes: [‸]', 'data', 14, 14],
  ])('replaces only the name at %j', async (line, name, start, end) => {
    const { asked, offset } = await ask({
      'compose.yaml': SERVICES.replace('    image: x\n', `    image: x\n${line}\n`),
    })
    const item = completionsAt(asked, offset).find(({ label }) => label === name)
    expect(item?.textEdit).toMatchObject({
      newText: name,
      range: { start: { character: start }, end: { character: end } },
    })
  })

  test('proposes no volume for the path in a container', async () => {
    expect(await inWeb('    volumes: ["data:/va‸r"]')).not.toContain('data')
  })

  test('documents a key with its fate, and lists those without effect last', async () => {
    const { asked, offset } = await ask({ 'compose.yaml': 'services:\n  web:\n    image: x\n    ul‸' })
    const item = completionsAt(asked, offset).find(({ label }) => label === 'ulimits')
    expect(item).toMatchObject({ documentation: { value: expect.stringContaining('no effect') }, sortText: '~ulimits' })
  })
})

describe('completionsAt in a manifest', () => {
  test.each<readonly [string, readonly string[]]>([
    ['‸', ['deploy', 'environments', 'dev']],
    ['deploy:\n  ‸', ['commands', 'compose', 'endpoints']],
    ['environments:\n  staging:\n    routes: ‸', ['ingress', 'gateway']],
    ['environments:\n  staging:\n    ‸', ['namespace', 'domain', 'secrets']],
  ])('proposes at %j', async (text, some) => {
    expect(await labels('devctl.yml', text)).toEqual(expect.arrayContaining([...some]))
  })

  test('proposes the services of the project for development containers', async () => {
    const { asked, offset } = await ask({
      'devctl.yml': 'deploy:\n  compose: compose.yaml\ndev:\n  ‸\n',
      'compose.yaml': SERVICES,
    })
    expect(completionsAt(asked, offset).map(({ label }) => label)).toEqual(expect.arrayContaining(['web', 'db']))
  })
})

test.each([
  ['depends_on: [‸]', ['web', 'db', 'cache']],
  ['volumes:\n      - ‸', ['data']],
  ['networks: [‸]', ['front']],
  ['profiles: [‸]', ['debug', 'nightly']],
])('completionsAt proposes names of the project in a job for %j', async (line, expected) => {
  const report = '  report:\n    image: x\n    profiles: [nightly]\n'
  const text = (own: string) => `${SERVICES}jobs:\n  import:\n    image: x\n${own}${report}`
  expect(await labels('compose.yaml', text(`    ${line}\n`), text(''))).toEqual(expect.arrayContaining(expected))
})
