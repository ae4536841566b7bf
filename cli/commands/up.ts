import { command } from '../command.ts'
import { flag, list, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { target } from '../options/target.ts'
import { tolerateFailures } from '../options/tolerate-failures.ts'

const options = {
  ...loading,
  ...target,
  env: list('--env <name=value>', 'set a variable in the development container; may be repeated'),
  deploy: flag('--deploy', 'run the deploy section first, even if the application is deployed'),
  tolerateFailures,
  createNamespace: flag(
    '--create-namespace',
    'create the namespace if it does not exist (without the option, devctl asks on a terminal)',
  ),
  reset: flag(
    '--reset',
    'empty the synchronized folders in the container, and fill them from the image and this machine again; `volumes` stay',
  ),
  command: list('--command <word>', 'command to run in the container; may be repeated for its arguments'),
  all: flag('--all', 'start all development containers of the manifest, or all services that can be worked on'),
  detach: flag('--detach', 'let the container run its command by itself, and return as soon as it is in sync'),
  downOnExit: flag('--down-on-exit', 'restore the original when `up` ends'),
  takeOver: flag('--take-over', 'end the session of somebody else'),
  dryRun: flag('--dry-run', 'print the mirror as the API server would accept it, and change nothing'),
}

/** Options of `up`. */
export type UpValues = Values<typeof options>

export const up = command({
  name: 'up',
  group: 'Develop',
  summary: 'Start development containers',
  description: `Replaces a workload in the cluster by its mirror, a copy with the overrides of \`dev\` in the manifest: same service account, variables, secrets, volumes and sidecars. Keeps the folders of \`sync\` the same on this machine and in the container, forwards the ports, and runs the command in the container. Without a manifest, the host volumes of the Compose file are what is synchronized.

What is not deployed is deployed first, and images are built if necessary. Several run side by side in one terminal: each runs its own command, without input, and each line that it prints begins with its name. Ctrl-C ends all of them.

The mirror stays when \`up\` ends; \`devctl down\` restores the original. The exit status is that of the command.`,
  words: [
    {
      name: '[devName...]',
      description:
        "development containers (default: the only one, or the one you choose), and after `--` the command to run (default: `command` of the manifest, or `sh`; for a Compose file alone, the service's own command)",
      completes: 'development',
    },
  ],
  options,
  examples: [
    { line: 'devctl up', does: 'work in the only development container' },
    { line: 'devctl up api -- npm run dev', does: 'run another command in that of `api`' },
    { line: 'devctl up api web', does: 'run two side by side, with what they print' },
    { line: 'devctl up api --detach', does: 'synchronize in the background, until `devctl down`' },
    { line: 'devctl up api --env LOG_LEVEL=debug', does: 'with another variable' },
  ],
  async run(context, words, options) {
    const { inBackground } = await import('../run/develop/detach.ts')
    const { splitWords } = await import('../run/develop/develop-words.ts')
    const own = inBackground(context.io, options)
    if (own.all || splitWords(words, context).devs.length > 1) {
      const { startSeveral } = await import('../run/develop/up-several.ts')
      return startSeveral(context, words, own)
    }
    const { startDevelopment } = await import('../run/develop/up.ts')
    return startDevelopment(context, words, own)
  },
})
