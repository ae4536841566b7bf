/** Something that depends on others, by name. */
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
  /** What is waited for, where it is more than a start: `healthy`, `completed`. */
  readonly label: string | undefined
  /** Of an SVG path. */
  readonly path: string
  readonly labelX: number
  readonly labelY: number
}

export interface PlacedGraph {
  readonly width: number
  readonly height: number
  readonly nodes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
}

/** Pixels of a node, and of the room between two. */
export const NODE = { width: 176, height: 60 }
const GAP = { x: 64, y: 20 }
/** How often nodes are put beside what they are connected with. */
const ROUNDS = 4

/** Places nodes in columns: each stands left of all that it depends on. What is in a circle is placed, too. */
export function layered(nodes: readonly GraphNode[]): PlacedGraph {
  const known = new Set(nodes.map(one => one.name))
  const edges = nodes.flatMap(({ name, dependsOn }) =>
    dependsOn
      .filter(({ service }) => known.has(service) && service !== name)
      .map(({ service, condition }) => ({ from: name, to: service, condition })),
  )
  const columns = toColumns(nodes, edges)
  order(columns, edges)
  const tallest = Math.max(1, ...columns.map(one => one.length))
  const height = tallest * (NODE.height + GAP.y) - GAP.y
  const placed = new Map<string, PlacedNode>()
  columns.forEach((column, index) => {
    const top = (height - (column.length * (NODE.height + GAP.y) - GAP.y)) / 2
    column.forEach((name, row) => {
      placed.set(name, { name, x: index * (NODE.width + GAP.x), y: top + row * (NODE.height + GAP.y) })
    })
  })
  return {
    width: Math.max(1, columns.length) * (NODE.width + GAP.x) - GAP.x,
    height,
    nodes: nodes.flatMap(({ name }) => placed.get(name) ?? []),
    edges: edges.flatMap(({ from, to, condition }) => {
      const [a, b] = [placed.get(from), placed.get(to)]
      return a && b ? { from, to, label: labelOf(condition), ...curve(a, b) } : []
    }),
  }
}

interface Edge {
  readonly from: string
  readonly to: string
}

function toColumns(nodes: readonly GraphNode[], edges: readonly Edge[]): string[][] {
  const column = new Map(nodes.map(one => [one.name, 0]))
  // Each round moves what is depended on to the right; in a circle that would not end.
  for (let round = 0; round < nodes.length; round++) {
    let isMoved = false
    for (const { from, to } of edges) {
      const least = (column.get(from) ?? 0) + 1
      if ((column.get(to) ?? 0) < least && least < nodes.length) {
        column.set(to, least)
        isMoved = true
      }
    }
    if (!isMoved) break
  }
  const columns: string[][] = []
  for (const { name } of nodes) {
    const found = column.get(name) ?? 0
    columns[found] ??= []
    columns[found].push(name)
  }
  return Array.from(columns, one => one ?? []).filter(one => one.length > 0)
}

/** Puts each node at the middle of those it is connected with, again and again, so that few lines cross. */
function order(columns: string[][], edges: readonly Edge[]): void {
  for (let round = 0; round < ROUNDS; round++)
    for (const column of columns) {
      const place = new Map(columns.flatMap(one => one.map((name, index) => [name, index - one.length / 2] as const)))
      const middle = new Map(
        column.map(name => {
          const others = edges.flatMap(({ from, to }) => (from === name ? [to] : to === name ? [from] : []))
          const sum = others.reduce((total, one) => total + (place.get(one) ?? 0), 0)
          return [name, others.length === 0 ? (place.get(name) ?? 0) : sum / others.length] as const
        }),
      )
      column.sort((a, b) => (middle.get(a) ?? 0) - (middle.get(b) ?? 0))
    }
}

function curve(a: PlacedNode, b: PlacedNode): Pick<PlacedEdge, 'path' | 'labelX' | 'labelY'> {
  const [fromX, fromY] = [a.x + NODE.width, a.y + NODE.height / 2]
  const [toX, toY] = [b.x, b.y + NODE.height / 2]
  const bend = Math.max(40, Math.abs(toX - fromX) / 2)
  return {
    path: `M${fromX} ${fromY}C${fromX + bend} ${fromY} ${toX - bend} ${toY} ${toX - 7} ${toY}`,
    // Beside what is waited for: the middle of a long line is where others are.
    labelX: toX - GAP.x / 2,
    labelY: toX - fromX > GAP.x ? toY : (fromY + toY) / 2,
  }
}

/** What Compose calls `service_healthy` is told as `healthy`. */
export function labelOf(condition: string): string | undefined {
  if (condition === 'service_healthy') return 'healthy'
  return condition === 'service_completed_successfully' ? 'completed' : undefined
}
