import { noNamespace, servePlatform } from '../../support/cli/fake-platform.ts'
import { makeFolder, read, write } from '../../support/cli/folder.ts'
import { run } from '../../support/run.ts'

export const TOKEN = 'devctl_api_canary'
const FILE = '.devctl/contexts.json'

/** A machine without a kubeconfig, and a platform with the namespaces `ann` and `shop`. */
export async function platformLaptop() {
  const { url, asked } = await servePlatform({
    'GET /namespaces/shop': { name: 'shop' },
    'GET /namespaces/gone': noNamespace('gone'),
    'GET /namespaces/shpo': noNamespace('shpo'),
    'GET /namespaces': { items: [{ name: 'ann' }, { name: 'shop' }] },
    'POST /namespaces': { name: 'shop' },
    'POST /auth/logout': {},
  })
  const { host } = new URL(url)
  const folder = makeFolder()
  const stored = () => JSON.parse(read(folder)[FILE] ?? '{"contexts":{}}')
  const remember = (namespace: string) =>
    write(folder, {
      [FILE]: JSON.stringify({ current: 'kind', contexts: { kind: {}, [url]: { token: TOKEN, namespace } } }),
    })
  const devctl = (line: string, env: Readonly<Record<string, string>> = {}) =>
    run(line.split(' '), { cwd: folder, env: { HOME: folder, ...env } })
  return { url, host, asked, folder, stored, remember, devctl }
}
