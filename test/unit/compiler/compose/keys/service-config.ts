import { printConfig } from '../../../../../compiler/compose/config.ts'
import { loadProject } from '../../../../../compiler/compose/load/load.ts'
import { Reporter } from '../../../../../compiler/diagnostics/reporter.ts'
import { memoryHost } from '../../../../support/plan/compose.ts'

/** The service `web` as `devctl config` prints it. `text` is what stands below `web:`. */
export function serviceConfig(text: string): Readonly<Record<string, unknown>> {
  const host = memoryHost({ 'compose.yaml': `services:\n  web:\n${text}\nvolumes: {data: {}}\n` })
  const reporter = new Reporter()
  const loaded = loadProject({ workingDirectory: '/project' }, host, reporter)
  if (!loaded || reporter.hasErrors)
    throw new Error(
      reporter
        .diagnostics()
        .map(({ message }) => message)
        .join('\n'),
    )
  const { services } = printConfig(loaded) as { services: Readonly<Record<string, Readonly<Record<string, unknown>>>> }
  return services['web']!
}
