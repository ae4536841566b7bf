import { failureSummary } from '../../compiler/diagnostics/render/summary.ts'
import { graph } from '../../operations/graph/graph.ts'
import type { Context } from '../command.ts'
import type { GraphValues } from '../commands/graph.ts'
import { printDiagnostics } from '../terminal/report.ts'

/** Compiles the files and prints the graph of the application. Prints only diagnostics if there are errors. */
export async function printGraph(
  { io, logLevel }: Context,
  services: readonly string[],
  options: GraphValues,
): Promise<number> {
  const outcome = await graph({ workspace: io }, { ...options, services })
  if (outcome.kind === 'refused') {
    printDiagnostics(outcome.diagnostics, io, logLevel)
    io.stderr.write(`${failureSummary(outcome.diagnostics, 'nothing was drawn')}\n`)
    return 1
  }
  const { toDot, toMermaid } = await import('../terminal/graph/text-graphs.ts')
  if (options.output === 'svg') {
    const { toSvg } = await import('../terminal/graph/svg.ts')
    io.stdout.write(await toSvg(outcome.graph))
  } else io.stdout.write(options.output === 'dot' ? toDot(outcome.graph) : toMermaid(outcome.graph))
  return 0
}
