/** A node that depends on others, by name. */
export interface GraphNode {
  readonly name: string
  readonly dependsOn: readonly { readonly service: string; readonly condition: string }[]
}

export interface PlacedNode {
  readonly name: string
  readonly x: number
  readonly y: number
}

export interface PlacedEdge {
  readonly from: string
  readonly to: string
  readonly waitsFor: WaitsFor
  /** Path of the line, for the attribute `d` of an SVG path. */
  readonly path: string
}

/** State that a service waits for another service to reach. */
export type WaitsFor = 'started' | 'healthy' | 'completed'

export interface PlacedGraph {
  readonly width: number
  readonly height: number
  readonly nodes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
}

/** Size of a node, and of the gap between two nodes, in pixels. */
export const NODE = { width: 176, height: 60 }
const GAP = { x: 64, y: 20 }
/** Number of passes that move nodes closer to the nodes that they are connected with. */
const ROUNDS = 4

/** Item of a column: a node, or the point where a line to a later column passes. */
interface Item {
  readonly key: string
  readonly isNode: boolean
}

interface Edge {
  readonly from: string
  readonly to: string
  readonly condition: string
  /** Keys of the points through which the line passes, from left to right. */
  readonly via: readonly string[]
}

/**
 * Arranges nodes in columns: each node is left of all nodes that it depends on, and no line passes behind a node. Nodes
 * in a dependency cycle are arranged, too.
 */
export function layered(nodes: readonly GraphNode[]): PlacedGraph {
  const known = new Set(nodes.map(one => one.name))
  const needs = nodes.flatMap(({ name, dependsOn }) =>
    dependsOn
      .filter(({ service }) => known.has(service) && service !== name)
      .map(({ service, condition }) => ({ from: name, to: service, condition })),
  )
  const { columns, edges } = toColumns(nodes, needs)
  order(columns, edges)
  const heightOf = (column: readonly Item[]) =>
    column.reduce((sum, { isNode }) => sum + GAP.y + (isNode ? NODE.height : 0), -GAP.y)
  const height = Math.max(NODE.height, ...columns.map(heightOf))
  /** Positions by key: the top left corner of a node, or the left end of the point where a line passes. */
  const placed = new Map<string, { readonly x: number; readonly y: number }>()
  columns.forEach((column, index) => {
    let y = (height - heightOf(column)) / 2
    for (const { key, isNode } of column) {
      placed.set(key, { x: index * (NODE.width + GAP.x), y })
      y += GAP.y + (isNode ? NODE.height : 0)
    }
  })
  const at = (key: string) => placed.get(key) ?? { x: 0, y: 0 }
  return {
    width: Math.max(1, columns.length) * (NODE.width + GAP.x) - GAP.x,
    height,
    nodes: nodes.map(({ name }) => ({ name, ...at(name) })),
    edges: edges.map(({ from, to, condition, via }) => ({
      from,
      to,
      waitsFor: waitsForOf(condition),
      path: line(at(from), via.map(at), at(to)),
    })),
  }
}

type Need = Omit<Edge, 'via'>

function toColumns(
  nodes: readonly GraphNode[],
  needs: readonly Need[],
): { readonly columns: Item[][]; readonly edges: readonly Edge[] } {
  const column = new Map(nodes.map(one => [one.name, 0]))
  // Each round moves dependencies to the right. The number of rounds is limited, because a cycle would never end.
  for (let round = 0; round < nodes.length; round++) {
    let isMoved = false
    for (const { from, to } of needs) {
      const least = (column.get(from) ?? 0) + 1
      if ((column.get(to) ?? 0) < least && least < nodes.length) {
        column.set(to, least)
        isMoved = true
      }
    }
    if (!isMoved) break
  }
  // A cycle can leave columns without nodes, which are removed.
  const used = [...new Set(column.values())].sort((a, b) => a - b)
  const place = (name: string) => used.indexOf(column.get(name) ?? 0)
  const columns: Item[][] = used.map(() => [])
  for (const { name } of nodes) columns[place(name)]?.push({ key: name, isNode: true })
  const edges = needs.map(need => {
    const via: string[] = []
    for (let index = place(need.from) + 1; index < place(need.to); index++) {
      // The key is unique, because names of services contain no spaces.
      const key = `${need.from} ${need.to} ${index}`
      columns[index]?.push({ key, isNode: false })
      via.push(key)
    }
    return { ...need, via }
  })
  return { columns, edges }
}

/**
 * Repeatedly moves each item to the average position of the items that it is connected with, so that few lines cross.
 */
function order(columns: Item[][], edges: readonly Edge[]): void {
  const beside = new Map<string, string[]>()
  for (const { from, to, via } of edges) {
    const stations = [from, ...via, to]
    for (let index = 1; index < stations.length; index++) {
      const [a = '', b = ''] = [stations[index - 1], stations[index]]
      beside.set(a, [...(beside.get(a) ?? []), b])
      beside.set(b, [...(beside.get(b) ?? []), a])
    }
  }
  for (let round = 0; round < ROUNDS; round++)
    for (const column of columns) {
      const place = new Map(columns.flatMap(one => one.map(({ key }, index) => [key, index - one.length / 2] as const)))
      const middle = new Map(
        column.map(({ key }) => {
          const others = beside.get(key) ?? []
          const sum = others.reduce((total, one) => total + (place.get(one) ?? 0), 0)
          return [key, others.length === 0 ? (place.get(key) ?? 0) : sum / others.length] as const
        }),
      )
      column.sort((a, b) => (middle.get(a.key) ?? 0) - (middle.get(b.key) ?? 0))
    }
}

interface Point {
  readonly x: number
  readonly y: number
}

/**
 * Returns the path of a line from the right side of a node to the left side of another, horizontal where it passes a
 * column.
 */
function line(a: Point, via: readonly Point[], b: Point): string {
  let from = { x: a.x + NODE.width, y: a.y + NODE.height / 2 }
  let path = `M${from.x} ${from.y}`
  for (const { x, y } of via) {
    path += `${curve(from, { x, y })}H${x + NODE.width}`
    from = { x: x + NODE.width, y }
  }
  return path + curve(from, { x: b.x - 7, y: b.y + NODE.height / 2 })
}

function curve(from: Point, to: Point): string {
  // A line can lead to the left in a cycle.
  const bend = Math.max(40, Math.abs(to.x - from.x) / 2)
  return `C${from.x + bend} ${from.y} ${to.x - bend} ${to.y} ${to.x} ${to.y}`
}

/** Converts a condition of Compose, such as `service_healthy`. Returns `started` for an unknown condition. */
function waitsForOf(condition: string): WaitsFor {
  if (condition === 'service_healthy') return 'healthy'
  return condition === 'service_completed_successfully' ? 'completed' : 'started'
}
