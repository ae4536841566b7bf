import { expect, test } from 'vitest'
import { graph } from '../../../../operations/graph/graph.ts'
import { workspaceOf } from '../../../../project/workspace.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const COMPOSE = `
name: shop
services:
  my_api: {image: nginx, ports: ["8080:80"]}
  my-api: {image: nginx, ports: ["8081:80"], volumes: ["data:/data"]}
volumes: {data: {}}
`

test('graph draws services whose names differ only in a character with their own kinds and endpoints', async () => {
  const cwd = makeFolder({ 'compose.yaml': COMPOSE })
  const outcome = await graph({ workspace: workspaceOf({ cwd }) }, { domain: 'dev.example.com' })
  if (outcome.kind !== 'graph') throw new Error('refused')
  const { nodes, edges } = outcome.graph
  const kinds = nodes.flatMap(({ id, kind, detail }) => (kind === 'service' ? [[id, detail]] : []))
  expect(kinds).toEqual([
    ['service my_api', 'Deployment'],
    ['service my-api', 'StatefulSet'],
  ])
  const routes = edges.filter(({ kind }) => kind === 'routes-to').map(({ from, to }) => [from, to])
  expect(routes).toEqual([
    ['endpoint my-api-shop.dev.example.com', 'service my-api'],
    ['endpoint my-api-703a7-shop.dev.example.com', 'service my_api'],
  ])
})
