import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading, planning, someServices } from '../options/project.ts'

const options = {
  ...loading,
  ...planning,
  output: output('mermaid', 'dot', 'svg'),
}

/** Options of `graph`. */
export type GraphValues = Values<typeof options>

export const graph = command({
  name: 'graph',
  group: 'Files',
  summary: 'Draw the services and what connects them',
  description: `Prints a graph of the application: services with the kinds of their workloads, dependencies with their conditions, public endpoints, volumes, configs, secrets, and networks.

Mermaid is shown by the Markdown of many forges, Graphviz reads DOT, and browsers show SVG. devctl reads the same files as \`render\`, and never a cluster.`,
  words: [someServices],
  options,
  examples: [
    { line: 'devctl graph --domain dev.example.com', does: 'print a Mermaid flowchart with the public endpoints' },
    { line: 'devctl graph -o svg > graph.svg', does: 'write an image' },
  ],
  async run(context, services, options) {
    const { printGraph } = await import('../run/graph.ts')
    return printGraph(context, services, options)
  },
})
