import { expect, test } from 'vitest'
import { tableOf, wideTable } from '../../../cli/run/ps.ts'
import type { ServiceOverview } from '../../../environment/status/service-status.ts'
import { servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

const TIME = '2026-01-01T00:00:00Z'
const by = { id: 'u', login: 'ann' }
const preview = {
  name: 'shop-pr-7',
  status: 'Running',
  scope: 'personal',
  owner: by,
  repository: 'https://git.example.com/team/shop',
  labels: [],
  created: TIME,
  lastActive: TIME,
}
const ENDPOINTS = [
  { url: 'https://shop-pr-7.dev.example.com', services: ['web'], ready: true },
  { url: 'https://api-shop-pr-7.dev.example.com', services: ['api'], ready: false },
]
const ANSWERS = {
  'GET /namespaces': {
    items: [
      { name: 'ann', status: 'Active' },
      { name: 'shop', status: 'Active' },
    ],
  },
  'GET /previews': { items: [preview, { ...preview, name: 'shop-pr-8' }] },
  'GET /previews/shop-pr-7': { ...preview, endpoints: ENDPOINTS },
  'GET /variables/namespace%3Aann': { items: [{ name: 'GREETING', set: TIME, by }] },
  'GET /variables/user': {
    items: [
      { name: 'GREETING', set: TIME, by },
      { name: 'COLOR', set: TIME, by },
    ],
  },
  'GET /variables/admin': { items: [] },
  'GET /credentials/namespace%3Aann': { items: [{ host: 'git.example.com', user: 'git', set: TIME, by }] },
  'GET /credentials/user': { items: [{ host: 'git.example.com', user: 'ann', set: TIME, by }] },
}

const NONE = { items: [] }
const EMPTY = {
  ...ANSWERS,
  'GET /previews': NONE,
  'GET /hooks': NONE,
  'GET /variables/namespace%3Aann': NONE,
  'GET /variables/user': NONE,
  'GET /credentials/namespace%3Aann': NONE,
  'GET /credentials/user': NONE,
}

async function devctl(line: string, answers: Parameters<typeof servePlatform>[0] = ANSWERS) {
  const { url } = await servePlatform(answers)
  const folder = makeFolder()
  const stored = { [url]: { token: 'devctl_cli_x', namespace: 'ann', kubernetes: { server: 'https://127.0.0.1:9' } } }
  write(folder, { '.devctl/contexts.json': JSON.stringify({ current: url, contexts: stored }) })
  return run(line.split(' '), { cwd: folder, env: { HOME: folder } })
}

test.each([
  ['namespace list -o name', 'ann\nshop\n'],
  ['variables -o name', 'GREETING\nCOLOR\n'],
  ['variables list -o name', 'GREETING\nCOLOR\n'],
  ['variables --output name list', 'GREETING\nCOLOR\n'],
  ['credentials list -o name', 'git.example.com\n'],
  ['preview list -o name', 'shop-pr-7\nshop-pr-8\n'],
  ['preview endpoints shop-pr-7 -o name', ENDPOINTS.map(({ url }) => `${url}\n`).join('')],
  [
    'preview endpoints shop-pr-7 -o md',
    `Available endpoints:\n${ENDPOINTS.map(({ url }) => `\n - [${url}](${url})\n`).join('')}`,
  ],
])('`devctl %s` prints %j', async (line, stdout) => {
  expect(await devctl(line)).toEqual({ status: 0, stdout, stderr: '' })
})

test.each(['variables list', 'credentials list', 'preview list', 'preview hook list'])(
  '`devctl %s` says that the list is empty, but not with `--quiet`',
  async line => {
    const usual = await devctl(line, EMPTY)
    expect(usual).toMatchObject({ status: 0, stdout: '', stderr: expect.stringMatching(/^there are no /i) })
    expect(await devctl(`${line} -q`, EMPTY)).toEqual({ status: 0, stdout: '', stderr: '' })
  },
)

test('`-o yaml` and `-o json` print the same records', async () => {
  const [json, yaml] = [await devctl('preview list -o json'), await devctl('preview list -o yaml')]
  expect(JSON.parse(json.stdout)).toMatchObject([{ name: 'shop-pr-7' }, { name: 'shop-pr-8' }])
  expect(yaml.stdout).toMatch(/^- name: shop-pr-7$/m)
})

test('`devctl ps -o wide` has whole digests and all addresses, whatever the width of the terminal', () => {
  const digest = `sha256:${'0123456789abcdef'.repeat(4)}`
  const row: ServiceOverview = {
    service: 'web',
    workload: 'deployment/web',
    kind: 'Deployment',
    state: 'ready',
    ready: 1,
    wanted: 1,
    restarts: 0,
    since: TIME,
    image: `nginx@${digest}`,
    addresses: ['https://a.example.com', 'https://b.example.com'],
    exposed: [],
    internal: [],
  } as unknown as ServiceOverview // the tables read no more of it
  const narrow = tableOf([row], Date.parse(TIME), 90)
  expect(narrow).not.toContain(digest)
  expect(narrow).toContain('https://a.example.com +1')
  const wide = wideTable([row], Date.parse(TIME))
  expect(wide).toContain(`nginx@${digest}  https://a.example.com, https://b.example.com  ready`)
})
