import { command } from '../command.ts'
import { flag, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target, timeout } from '../options/target.ts'
import { tolerateFailures } from '../options/tolerate-failures.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  timeout,
  wait: flag('--wait', 'wait until all restarted workloads are ready'),
  tolerateFailures,
}

/** Options of `restart`. */
export type RestartValues = Values<typeof options>

export const restart = command({
  name: 'restart',
  group: 'Deploy',
  summary: 'Restart services by replacing their Pods',
  description: `Replaces the Pods of all services, or of the named ones, according to their update policies: with a rolling update, the remaining Pods keep serving. Nothing else changes, and the next deploy has nothing to do. The dependencies of a service are not restarted with it.

With the name of an active development container, the programs of its \`services\` (in \`dev\` of the manifest) are restarted; if it has none, its own program: what the container runs, or the command of \`up\`, whose terminal stays.

Jobs are not restarted; \`devctl deploy --rerun SERVICE\` runs a Job again.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [
    { line: 'devctl restart api --wait', does: 'restart one service, and wait until it is ready' },
    { line: 'devctl restart', does: 'restart all services of the application in this folder' },
  ],
  async run(context, services, options) {
    const { restartApplication } = await import('../run/restart.ts')
    return restartApplication(context, services, options)
  },
})
