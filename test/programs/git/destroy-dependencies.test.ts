import { expect, test } from 'vitest'
import { deploy } from '../../../operations/deploy/deploy.ts'
import { destroy } from '../../../operations/destroy/destroy.ts'
import type { DestroyInput } from '../../../operations/destroy/input.ts'
import { withDependency } from '../../support/git/dependency.ts'
import { NAMESPACE, newCluster } from '../../support/objects/deploying.ts'
import { operationOn } from '../../support/objects/environment.ts'

const COMPOSE = 'services: {api: {image: nginx}}\n'

/** Deploys a project with a dependency, destroys both, and returns the events. */
async function destroyed(of: Readonly<Record<string, string>>, options: object, input: DestroyInput) {
  const cluster = newCluster()
  const files = { ...(await withDependency(of, options)), 'prod.env': 'A=1\n' }
  const { world, project } = await operationOn(cluster, { files, input })
  await deploy(world, {}, project)
  const { world: later, project: same, events } = await operationOn(cluster, { files, input })
  await destroy(later, { dependencies: true, ...input }, same)
  return { events, left: await cluster.list({ apiVersion: 'apps/v1', kind: 'Deployment', namespace: NAMESPACE }) }
}

test.each<[string, DestroyInput]>([
  ['whose name is no DNS label is destroyed', {}],
  ['is destroyed without the `--env-file` of the project', { envFile: ['prod.env'] }],
])('a dependency %s', async (_, input) => {
  const { events, left } = await destroyed({ 'compose.yaml': COMPOSE }, {}, input)
  expect(left).toEqual([])
  const outcomes = events.flatMap(one => ('outcome' in one ? [one.outcome] : []))
  expect(outcomes).toMatchObject([
    { environment: 'front', wasEmpty: false },
    { environment: 'shop-api', wasEmpty: false },
  ])
})

test('the destroy commands of a dependency get its own variables, not those of `--var`', async () => {
  const command = 'if [ "$ZONE" = west ]; then echo "zone$MINE"; fi'
  const manifest = { name: 'api', deploy: { compose: 'compose.yaml' }, destroy: { commands: [command] } }
  const files = { 'compose.yaml': COMPOSE, 'devctl.yml': JSON.stringify(manifest) }
  const { events } = await destroyed(files, { variables: { ZONE: 'west' } }, { var: { MINE: 'secret' } })
  const text = events.flatMap(one => (one.type === 'output' ? [one.text] : [])).join('')
  expect(text.trim()).toBe('zone')
})
