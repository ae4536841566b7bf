import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { root } from '../../support/cases.ts'
import { untilAnswers } from '../../support/cluster/application.ts'
import { findCluster } from '../../support/cluster/cluster.ts'
import { DOMAIN } from '../../support/cluster/examples.ts'
import { withProject } from '../../support/cluster/project.ts'
import { few } from '../../support/takes-all.ts'

const found = findCluster()
const cluster = found !== undefined && (await found.hasNodes()) ? found : undefined
const FOLDER = join(root, 'test/support/applications')

/** Service of each application that users open, and the page it shows once all other services work. */
const ANSWERS: Readonly<Record<string, readonly [service: string, page: string]>> = {
  wiki: ['wiki', 'wiki: database reached, uploads kept\n'],
  pipeline: ['pipeline-apiserver', 'pipeline: daily.py ran 1 times\n'],
  metrics: ['grafana', 'dashboard:\nup alertmanager:9093 1\nup node-exporter:9100 1\n'],
  broker: ['web', 'done: 5\n'],
  chat: ['chat', 'chat: mongo:27017, 0 uploads\n'],
  cms: ['cms', 'cms: database reached, cache +PONG, extensions hello\n'],
  discovery: ['api-gateway', 'gateway: customers-service, vets-service\n'],
  identity: ['portal', 'portal: people of http://identity:8080/realms/acme\n'],
  media: ['library', 'library: one.mkv, 3 indexers, through 203.0.113.7\n'],
  objects: ['nginx', 'store: 4 online\n'],
  php: ['web', 'cloud: database reached, cache reached, cron ran\n'],
  tickets: ['tickets-nginx', 'tickets: railsserver\n'],
}

describe.skipIf(cluster === undefined)('unedited Compose applications', () => {
  afterAll(() => cluster?.close())

  test('every application is tested', () => expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(ANSWERS).sort()))

  for (const [name, [service, page]] of few(Object.entries(ANSWERS)))
    test.concurrent(name, () =>
      withProject(cluster!, async project => {
        cpSync(join(FOLDER, name), project.directory, { recursive: true })
        const deployed = await project.devctl('deploy', '--domain', DOMAIN, '--wait')
        expect(deployed.status, deployed.stderr).toBe(0)
        await untilAnswers(cluster!, `${service}-${project.name}.${DOMAIN}`, '/', ({ body }) => body === page)
      }),
    )
})
