import { command } from '../command.ts'
import { flag, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { target, timeout } from '../options/target.ts'

const options = {
  ...loading,
  ...target,
  timeout,
  volumes: flag('--volumes', 'also delete the persistent volume with the synchronized folders'),
  all: flag('--all', 'end all development containers of the manifest, or of the Compose file'),
}

/** Options of `down`. */
export type DownValues = Values<typeof options>

export const down = command({
  name: 'down',
  group: 'Develop',
  summary: 'End development containers and restore the originals',
  description: `Ends the session of \`devctl up\`, deletes the mirror, and gives the original back its replicas. Works from any machine, and after \`up\` was killed.

The files in the container stay in their volume for the next \`up\`; \`--volumes\` deletes it.`,
  words: [
    {
      name: '[devName...]',
      description: 'development containers (default: the active one, or the one you choose)',
      completes: 'development',
    },
  ],
  options,
  examples: [
    { line: 'devctl down', does: 'restore the original' },
    { line: 'devctl down api --volumes', does: 'and delete the files in the cluster' },
  ],
  async run(context, words, options) {
    const { endDevelopment } = await import('../run/develop/down.ts')
    return endDevelopment(context, words, options)
  },
})
