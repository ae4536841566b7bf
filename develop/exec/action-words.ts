import type { WatchExec } from '../../compiler/compose/project.ts'
import { TOOL } from '../../constructs/mirror/scripts.ts'

/**
 * Returns the command line for the command of a `sync+exec` rule, with its folder and variables. The command runs as
 * the user of the container, because Kubernetes cannot run it as another user.
 */
export function execWords({ command, workingDir, environment }: WatchExec, tool = TOOL): readonly string[] {
  const inFolder = workingDir ? [tool, 'sh', '-c', 'cd "$0" && exec "$@"', workingDir.value] : []
  const variables = environment.map(({ name, value }) => `${name}=${value}`)
  return [...inFolder, ...(variables.length > 0 ? [tool, 'env', ...variables] : []), ...command.words]
}

/** Command that restarts the program of a container whose process 1 is `run.sh`. */
export const RESTART_WORDS: readonly string[] = [TOOL, 'sh', '-c', 'kill -USR1 1']
