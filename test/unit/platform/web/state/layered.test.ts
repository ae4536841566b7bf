import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { type GraphNode, layered, NODE } from '../../../../../platform/web/state/layered.ts'

const node = (name: string, ...needs: string[]): GraphNode => ({
  name,
  dependsOn: needs.map(service => ({ service, condition: 'service_healthy' })),
})

test('each node stands left of what it waits for', () => {
  const { nodes, edges } = layered([
    node('db'),
    node('migrate', 'db'),
    node('api', 'migrate', 'db'),
    node('web', 'api'),
  ])
  const column = Object.fromEntries(nodes.map(one => [one.name, one.x / (nodes[1]!.x - nodes[2]!.x)]))
  expect(column).toEqual({ web: 0, api: 1, migrate: 2, db: 3 })
  expect(edges.map(one => `${one.from} ${one.waitsFor} ${one.to}`)).toContain('api healthy db')
})

test('a node in a cycle, or with a missing dependency, is placed once', () => {
  const { nodes, edges } = layered([node('a', 'b'), node('b', 'a', 'b', 'gone')])
  expect(nodes.map(one => one.name)).toEqual(['a', 'b'])
  expect(edges).toHaveLength(2)
  expect(layered([]).nodes).toEqual([])
})

/** The straight parts of a line: where it passes columns. */
const passes = (path: string) =>
  [...path.matchAll(/ ([\d.-]+) ([\d.-]+)H([\d.-]+)/g)].map(([, from, y, to]) => ({
    from: Number(from),
    to: Number(to),
    y: Number(y),
  }))

test('a line to a node further away passes beside the nodes between, not behind them', () => {
  const { nodes, edges } = layered([
    node('db'),
    node('migrate', 'db'),
    node('api', 'migrate', 'db'),
    node('web', 'api', 'db'),
  ])
  const long = edges.filter(one => passes(one.path).length > 0)
  expect(long.map(one => [one.from, one.to, passes(one.path).length])).toEqual([
    ['api', 'db', 1],
    ['web', 'db', 2],
  ])
  const heights = new Map(nodes.map(one => [one.x, one.y]))
  for (const { path } of long)
    for (const { from, y } of passes(path)) {
      const top = heights.get(from)!
      expect(y < top || y > top + NODE.height).toBe(true)
    }
})

test('no two nodes overlap, and all are inside of the drawing', () => {
  const graph = fc.array(fc.array(fc.nat(11), { maxLength: 4 }), { maxLength: 12 })
  fc.assert(
    fc.property(graph, needs => {
      const found = layered(needs.map((one, index) => node(`s${index}`, ...one.map(other => `s${other}`))))
      expect(found.nodes).toHaveLength(needs.length)
      for (const { from, y } of found.edges.flatMap(one => passes(one.path)))
        for (const { x, y: top } of found.nodes) if (x === from) expect(y < top || y > top + NODE.height).toBe(true)
      for (const [index, a] of found.nodes.entries()) {
        expect(a.x + NODE.width).toBeLessThanOrEqual(found.width)
        expect(a.y + NODE.height).toBeLessThanOrEqual(found.height)
        for (const b of found.nodes.slice(index + 1))
          expect(Math.abs(a.x - b.x) >= NODE.width || Math.abs(a.y - b.y) >= NODE.height).toBe(true)
      }
    }),
  )
})
