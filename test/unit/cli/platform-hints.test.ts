import { describe, expect, test } from 'vitest'
import { servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

// Hints on the next command, after one with an option for the namespace or the platform: the next command does not know
// them.

const repository = 'https://git.example.com/team/shop'
const aRun = { id: 'r1', action: 'deploy', environment: 'shop', namespace: 'team', state: 'queued' }
const preview = { name: 'shop-x', status: 'Deploying', scope: 'personal', endpoints: [], labels: [] }

async function loggedIn() {
  const { url } = await servePlatform({
    'GET /runs': { items: [] },
    'POST /runs': aRun,
    'POST /previews': preview,
    'GET /previews/shop-x': { ...preview, status: 'Failed', run: { environment: 'shop' } },
  })
  const folder = makeFolder()
  const stored = { [url]: { token: 'devctl_cli_x', namespace: 'ann', kubernetes: { server: 'https://127.0.0.1:9' } } }
  write(folder, { '.devctl/contexts.json': JSON.stringify({ current: url, contexts: stored }) })
  return { url, devctl: (line: string) => run(line.split(' '), { cwd: folder, env: { HOME: folder } }) }
}

describe('options in hints', () => {
  test.each([
    ['', ''],
    [' --namespace team', ' --namespace team'],
    [' --context URL', ' --context URL'],
    [' --namespace team --context URL', ' --namespace team --context URL'],
  ])('the hints of devctl pipeline deploy%s repeat its namespace and its platform', async (given, repeated) => {
    const { url, devctl } = await loggedIn()
    const at = (text: string) => text.replace('URL', url)
    expect(await devctl(at(`pipeline deploy --repository ${repository}${given}`))).toEqual({
      status: 0,
      stdout: '',
      stderr: `Scheduled the deploy of shop in team; \`devctl pipeline logs --name shop${at(repeated)}\` shows it\n`,
    })
    const none = await devctl(at(`pipeline logs --name shop${given}`))
    expect(none.stderr).toContain(`to see them, run \`devctl pipeline list${at(repeated)}\``)
  })

  test('the hints of devctl preview repeat the platform', async () => {
    const { url, devctl } = await loggedIn()
    const made = await devctl(`preview deploy shop-x --branch x --repository ${repository} --context ${url}`)
    expect(made.stderr).toContain(`; \`devctl preview endpoints shop-x --context ${url}\` lists its addresses\n`)
    const { stderr } = await devctl(`preview endpoints shop-x --context ${url}`)
    expect(stderr).toContain(`\`devctl pipeline logs --namespace shop-x --name shop --context ${url}\` shows why`)
  })
})
