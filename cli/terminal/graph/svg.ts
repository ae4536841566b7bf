import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import type { ApplicationGraph, GraphEdge, GraphPart } from '../../../operations/graph/graph.ts'
import { labelLines } from './text-graphs.ts'

/** Sizes in pixels: the font, the height of a line, and the space inside a node and around the graph. */
const FONT = 14
const LINE = 19
const PADDING = 14
const MARGIN = 32
/** Average width of a character in pixels; browsers and viewers have different fonts. */
const CHARACTER = 8.8
const SMALL = 7

/**
 * Colours of each kind of node: first the area, then the border. Text on each area has a contrast of more than 7 to 1.
 */
const COLOURS: Readonly<Record<GraphPart['kind'], readonly [string, string]>> = {
  service: ['#e3edfb', '#2f5fa8'],
  job: ['#dff3f4', '#1f7480'],
  endpoint: ['#e2f3e6', '#2b7a42'],
  volume: ['#f6ead6', '#96631a'],
  config: ['#f1f1f1', '#6b6b6b'],
  secret: ['#fbe5e5', '#a83a3a'],
  network: ['#ece4f7', '#6b46a3'],
}

interface Point {
  readonly x: number
  readonly y: number
}

/** Maximum number of nodes and edges. Arranging more takes minutes, and nobody could read the image. */
const MOST = 10_000

/**
 * Returns a graph as an SVG image with a title and a description for screen readers. Throws a UserError if the graph is
 * too large to be arranged.
 */
export async function toSvg(graph: ApplicationGraph): Promise<string> {
  const { nodes, edges } = graph
  const layout = await arranged(graph)
  const { width = 0, height = 0 } = layout.graph()
  const size = { width: Math.ceil(width), height: Math.ceil(height) }
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" role="img" aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="${FONT}">`,
    `<title id="title">${escaped(`The application ${graph.name}`)}</title>`,
    `<desc id="desc">${escaped(description(graph))}</desc>`,
    `<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="11" markerHeight="11" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 10 5 0 10z" fill="#444"/></marker></defs>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...edges.map((edge, index) => drawEdge(edge, layout.edge(edge.from, edge.to, String(index)))),
    ...nodes.map(node => drawNode(node, layout.node(node.id))),
    '</svg>',
  ].join('\n')}\n`
}

async function arranged(graph: ApplicationGraph): ReturnType<typeof arrange> {
  const { nodes, edges } = graph
  const tooLarge = (cause?: unknown) =>
    new UserError(`the graph is too large to be drawn: it has ${nodes.length} nodes and ${edges.length} edges`, {
      hint: 'name some services, or write it with `-o dot` and draw it with another program',
      cause,
    })
  if (nodes.length + edges.length > MOST) throw tooLarge()
  try {
    return await arrange(graph)
  } catch (error) {
    // The library follows chains of edges by recursion.
    if (error instanceof RangeError) throw tooLarge(error)
    throw error
  }
}

/** Places the nodes in layers from left to right. */
async function arrange({ nodes, edges }: ApplicationGraph) {
  const { Graph, layout } = await import('@dagrejs/dagre')
  const graph = new Graph({ multigraph: true })
  graph.setGraph({ rankdir: 'LR', nodesep: 24, ranksep: 56, edgesep: 16, marginx: MARGIN, marginy: MARGIN })
  for (const node of nodes) graph.setNode(node.id, sizeOf(node))
  for (const [index, { from, to, label }] of edges.entries()) {
    const size = label === undefined ? {} : { width: label.length * SMALL + 8, height: LINE, labelpos: 'c' as const }
    graph.setEdge(from, to, size, String(index))
  }
  layout(graph)
  return graph
}

function sizeOf(node: GraphPart): { readonly width: number; readonly height: number } {
  const lines = labelLines(node)
  const width = Math.max(...lines.map(line => line.length)) * CHARACTER + 2 * PADDING
  return { width, height: lines.length * LINE + PADDING }
}

interface Box extends Point {
  readonly width: number
  readonly height: number
}

function drawNode(node: GraphPart, { x, y, width, height }: Box): string {
  const [area, border] = COLOURS[node.kind]
  const round = node.kind === 'endpoint' ? height / 2 : node.kind === 'service' ? 6 : 2
  const first = y - ((labelLines(node).length - 1) * LINE) / 2
  const lines = labelLines(node).map((line, index) => {
    const style = index === 0 ? 'font-weight="600"' : `font-size="${FONT - 2}"`
    return `<text x="${fixed(x)}" y="${fixed(first + index * LINE)}" ${style} text-anchor="middle" dominant-baseline="central" fill="#1a1a1a">${escaped(line)}</text>`
  })
  const box = `<rect x="${fixed(x - width / 2)}" y="${fixed(y - height / 2)}" width="${fixed(width)}" height="${fixed(height)}" rx="${round}" fill="${area}" stroke="${border}" stroke-width="1.5"/>`
  return `<g>${box}${lines.join('')}</g>`
}

function drawEdge(
  { kind, label }: GraphEdge,
  { points, x, y }: { readonly points: readonly Point[] } & Partial<Point>,
): string {
  const dashes = kind === 'mounts' || kind === 'joins' ? ' stroke-dasharray="4 4"' : ' marker-end="url(#arrow)"'
  const line = `<path d="${curve(points)}" fill="none" stroke="#444" stroke-width="${kind === 'routes-to' ? 2.5 : 1.5}"${dashes}/>`
  if (label === undefined || x === undefined || y === undefined) return line
  const width = label.length * SMALL + 8
  const behind = `<rect x="${fixed(x - width / 2)}" y="${fixed(y - LINE / 2)}" width="${fixed(width)}" height="${LINE}" fill="#fff"/>`
  return `${line}${behind}<text x="${fixed(x)}" y="${fixed(y)}" font-size="${FONT - 2}" text-anchor="middle" dominant-baseline="central" fill="#333">${escaped(label)}</text>`
}

/** Returns the SVG path of a smooth line through points; its curves meet in the middle between two points. */
function curve([first, ...rest]: readonly Point[]): string {
  const at = ({ x, y }: Point) => `${fixed(x)} ${fixed(y)}`
  if (!first) return ''
  const last = rest.at(-1) ?? first
  const parts = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1]!
    const end = index === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 }
    return `Q${at(point)} ${at(end)}`
  })
  return `M${at(first)} ${parts.length > 0 ? parts.join(' ') : `L${at(last)}`}`
}

const VERBS = { 'depends-on': 'depends on', 'routes-to': 'leads to', mounts: 'mounts', joins: 'joins' } as const

/** Describes the graph in sentences. */
function description({ nodes, edges }: ApplicationGraph): string {
  const nameOf = (id: string) => nodes.find(node => node.id === id)!.id
  const sentences = edges.map(
    ({ from, to, kind, label }) =>
      `${nameOf(from)} ${VERBS[kind]} ${nameOf(to)}${label === undefined ? '' : ` (${label})`}`,
  )
  return `${nodes.length} parts: ${nodes.map(({ id }) => id).join(', ')}. ${sentences.join('. ')}${sentences.length > 0 ? '.' : ''}`
}

const fixed = (value: number): string => String(Math.round(value * 10) / 10)

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
