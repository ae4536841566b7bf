import { expect } from 'vitest'
import { type Case, unbuiltExamples } from '../cases.ts'
import { TAKES_ALL } from '../takes-all.ts'
import { ask, untilAnswers } from './application.ts'
import { type Cluster, eventually } from './cluster.ts'

/**
 * Returns the examples that are deployed: one with several services and claims that need each other; all in `npm run
 * test:long`.
 */
export const fewExamples = (): readonly Case[] => unbuiltExamples().filter(({ name }) => TAKES_ALL || name === 'voting')

/** Hosts below it lead to this machine. */
export const DOMAIN = 'devctl.localhost'

/**
 * Checks by which each example shows that it works; `namespace` is also the environment's name. In a later round, the
 * data of the earlier rounds exists.
 */
export const shows: Readonly<Record<string, (cluster: Cluster, namespace: string, round?: number) => Promise<void>>> = {
  guestbook: async (cluster, namespace) => {
    await untilAnswers(cluster, host('web', namespace), '/', page => page.body === 'hello, $USER\n')
  },
  voting: async (cluster, namespace, round = 1) => {
    await untilAnswers(cluster, host('vote', namespace), '/', page => page.body.includes('Cats'))
    const voted = await ask(cluster, host('vote', namespace), '/', { vote: 'a' })
    expect(voted.body).toContain('You voted for Cats')
    await untilAnswers(cluster, host('result', namespace), '/', page => page.body === `{"a":${round},"b":0}\n`)
  },
  blog: async (cluster, namespace) => {
    await untilAnswers(cluster, host('web', namespace), '/', page => page.body.includes('A blog on Kubernetes'))
    await ask(cluster, host('web', namespace), '/', { text: "it's up & running" })
    await untilAnswers(cluster, host('web', namespace), '/', page => page.body.includes('it&#x27;s up &amp; running'))
  },
  migration: async (cluster, namespace) => {
    // The file exists before psql has written to it.
    const count = await eventually('the rows are counted', async () => {
      const args = ['--namespace', namespace, 'exec', 'deployment/api', '--', 'cat', '/tmp/count']
      return (await cluster.kubectl(...args)).trim() || undefined
    })
    expect(count).toBe('3')
  },
  autoscale: async (cluster, namespace) => {
    await untilAnswers(cluster, host('web', namespace), '/', page => page.body === 'thumbnail\n')
    const words = ['--namespace', namespace, 'get', 'deployment/web', '--output=jsonpath={.spec.replicas}']
    await eventually(
      'the autoscaler sets its minimum',
      async () => (await cluster.kubectl(...words)) === '2' || undefined,
    )
  },
  'cluster-objects': async (cluster, namespace) => {
    await untilAnswers(cluster, host('web', namespace), '/', page => page.body === 'web\n')
    const words = ['get', 'networkpolicy/cache-from-web', 'poddisruptionbudget/web', 'serviceaccount/web']
    const found = await cluster.kubectl('--namespace', namespace, ...words, '--output=name')
    expect(found.trim().split('\n')).toHaveLength(3)
  },
  jobs: async (cluster, namespace) => {
    const words = ['--namespace', namespace, 'get', 'cronjobs', '--output=jsonpath={.items[*].metadata.name}']
    expect(await cluster.kubectl(...words)).toBe('archive report')
  },
  secrets: async (cluster, namespace) => {
    const inside = (...command: string[]) =>
      cluster.kubectl('--namespace', namespace, 'exec', 'deployment/web', '--', ...command)
    expect(await inside('printenv', 'PGPASSWORD', 'PGAPPNAME')).toBe('correct-horse\nnotes\n')
    const user = await inside(
      'psql',
      '-h',
      'db',
      '-U',
      'postgres',
      '-tAc',
      "select current_setting('application_name')",
    )
    expect(user).toBe('notes\n')
    const path = String.raw`--output=jsonpath={.spec.template.metadata.annotations.dev\.platform/restarts-with}`
    const hash = await cluster.kubectl('--namespace', namespace, 'get', 'deployment/web', path)
    expect(hash, 'the Pods of web restart with those of db').not.toBe('')
  },
  monorepo: async (cluster, namespace) => {
    await untilAnswers(cluster, host(namespace, namespace), '/catalog', page => page.body.includes('"lamp"'))
    await untilAnswers(cluster, host(namespace, namespace), '/orders', page => page.body.includes('"orders-db:5432"'))
  },
  'files/list': async (cluster, namespace) => {
    await untilAnswers(cluster, host(namespace, namespace), '/build.txt', page => page.body === '1042')
    await untilAnswers(cluster, host(namespace, namespace), '/api/', page =>
      page.body.includes('folder below the folder'),
    )
    const inside = (...command: string[]) =>
      cluster.kubectl('--namespace', namespace, 'exec', 'deployment/web', '--', ...command)
    expect(await inside('cat', '/run/secrets/token')).toBe('not-a-real-token')
    expect(await inside('cat', '/motd')).toBe('hello from files.example.com\n')
    expect((await inside('stat', '-L', '-c', '%a', '/etc/nginx/htpasswd')).trim()).toBe('440')
  },
  'files/map': async (cluster, namespace) => {
    await untilAnswers(cluster, host('shop', namespace), '/', page => page.status === 200)
    await untilAnswers(cluster, host('back-office', namespace), '/', page => page.body.includes('Administration'))
  },
  'files/object': async (cluster, namespace) => {
    await untilAnswers(cluster, host(namespace, namespace), '/', page => page.body.includes('become annotations'))
  },
  'shared-volume': async (cluster, namespace) => {
    await untilAnswers(cluster, host('server', namespace), '/', page => page.body.includes('written at'))
  },
  shop: async (cluster, namespace) => {
    await untilAnswers(cluster, host('web', namespace), '/', page => page.body === 'the shop is open\n')
  },
  networks: async (cluster, namespace) => {
    await untilAnswers(cluster, host('web', namespace), '/', page => page.status === 200)
  },
  'queue-worker': async (cluster, namespace) => {
    await untilAnswers(cluster, host(namespace, namespace), '/', page => page.body === '{"done": 20}\n')
  },
}

/** `<name>-<namespace>.<domain>`, as the specification has it. */
function host(name: string, namespace: string): string {
  return `${name}-${namespace}.${DOMAIN}`
}

/** Waits for the default service account of a new namespace, which refuses Pods until it exists. */
export function defaultServiceAccount(cluster: Cluster, namespace: string): Promise<boolean> {
  return eventually('the service account of the namespace is there', async () => {
    const { status } = await cluster.send('GET', `/api/v1/namespaces/${namespace}/serviceaccounts/default`)
    return status === 200 || undefined
  })
}
