import type { ApplicationGraph, GraphEdge, GraphPart } from '../../../operations/graph/graph.ts'

/** Brackets that give each kind of node its shape in Mermaid (https://mermaid.js.org/syntax/flowchart.html). */
const MERMAID: Readonly<Record<GraphPart['kind'], readonly [string, string]>> = {
  service: ['[', ']'],
  job: ['[[', ']]'],
  endpoint: ['([', '])'],
  volume: ['[(', ')]'],
  config: ['[/', '/]'],
  secret: ['[/', '/]'],
  network: ['{{', '}}'],
}

/** Returns a graph as a Mermaid flowchart, which Markdown of many forges shows. */
export function toMermaid({ nodes, edges }: ApplicationGraph): string {
  const ids = new Map(nodes.map(({ id }, index) => [id, `n${index}`]))
  const text = (value: string) => `"${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  const node = ({ id, kind, ...one }: GraphPart) => {
    const [open, close] = MERMAID[kind]
    return `  ${ids.get(id)}${open}${text(labelLines({ id, kind, ...one }).join('<br>'))}${close}`
  }
  const edge = ({ from, to, kind, label }: GraphEdge) => {
    const line = kind === 'depends-on' ? '-->' : kind === 'routes-to' ? '==>' : '-.-'
    return `  ${ids.get(from)} ${line}${label === undefined ? '' : `|${text(label)}|`} ${ids.get(to)}`
  }
  return `${['flowchart LR', ...nodes.map(node), ...edges.map(edge)].join('\n')}\n`
}

const DOT: Readonly<Record<GraphPart['kind'], string>> = {
  service: 'box',
  job: 'component',
  endpoint: 'oval',
  volume: 'cylinder',
  config: 'note',
  secret: 'note',
  network: 'hexagon',
}

/** Returns a graph in the language of Graphviz (https://graphviz.org/doc/info/lang.html). */
export function toDot({ name, nodes, edges }: ApplicationGraph): string {
  const text = (value: string) => `"${value.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`
  const node = (one: GraphPart) =>
    `  ${text(one.id)} [shape=${DOT[one.kind]}, label=${text(labelLines(one).join('\n')).replaceAll('\n', '\\n')}];`
  const edge = ({ from, to, kind, label }: GraphEdge) => {
    const style = kind === 'depends-on' ? [] : kind === 'routes-to' ? ['style=bold'] : ['style=dashed', 'dir=none']
    const all = [...style, ...(label === undefined ? [] : [`label=${text(label)}`])]
    return `  ${text(from)} -> ${text(to)}${all.length > 0 ? ` [${all.join(', ')}]` : ''};`
  }
  return `${[`digraph ${text(name)} {`, '  rankdir=LR;', ...nodes.map(node), ...edges.map(edge), '}'].join('\n')}\n`
}

/** Returns the lines of a node: its name, its kind, and the schedules of a job. */
export function labelLines({ kind, name, detail, schedules }: GraphPart): readonly string[] {
  const when = schedules?.length === 0 ? ['started by users'] : (schedules ?? [])
  return [name, detail ?? kind, ...when]
}
