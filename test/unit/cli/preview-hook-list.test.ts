import { expect, test } from 'vitest'
import { servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

// `devctl preview hook list`: webhooks, and the last delivery of each.

const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000 - 5000).toISOString()
const hook = (id: string, more: object = {}) => ({
  id,
  repository: 'https://git.example.com/team/shop',
  prefix: 'shop-',
  forks: 'approve',
  scope: 'personal',
  owner: { id: 'u', login: 'ann' },
  pulls: [],
  ...more,
})

test('each webhook has its last delivery', async () => {
  const { url } = await servePlatform({
    'GET /hooks': {
      items: [
        hook('new'),
        hook('good', {
          lastDelivery: { time: ago(2), event: 'pull_request', result: 'accepted', number: 7 },
          lastUnsigned: ago(60),
        }),
        hook('push', { lastDelivery: { time: ago(60), event: 'push', result: 'ignored', reason: 'why' } }),
        hook('wrong', { lastDelivery: { time: ago(60), result: 'accepted', number: 7 }, lastUnsigned: ago(3) }),
      ],
    },
  })
  const folder = makeFolder()
  const stored = { [url]: { token: 'devctl_cli_x', namespace: 'ann', kubernetes: { server: 'https://127.0.0.1:9' } } }
  write(folder, { '.devctl/contexts.json': JSON.stringify({ current: url, contexts: stored }) })
  const { stdout } = await run(['preview', 'hook', 'list'], { cwd: folder, env: { HOME: folder } })
  expect(stdout.split('\n\n')[1]?.split('\n')).toEqual([
    'Id     Last delivery  Event         Result',
    'new    never          -             -',
    'good   2 minutes ago  pull_request  accepted, pull request 7',
    'push   1 hour ago     push          ignored: why',
    'wrong  3 minutes ago  -             refused: not signed with the secret of the webhook',
    '',
  ])
})
