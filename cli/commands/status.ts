import { command } from '../command.ts'
import { choice, flag, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { target } from '../options/target.ts'

const options = {
  ...loading,
  ...target,
  info: flag('--info', 'print the addresses, user and password of the status pages on both sides'),
  all: flag('--all', 'all development containers, also those that are not active'),
  answer: choice(
    '--answer <meaning>',
    'what becomes of a folder whose files are all gone on one side: `delete` them on the other side, too, or `restore` them from there',
    ['delete', 'restore'],
  ),
  watch: flag('--watch', 'print each change until Ctrl-C'),
  output: output('text', 'json'),
}

/** Options of `status`. */
export type StatusValues = Values<typeof options>

export const status = command({
  name: 'status',
  group: 'Develop',
  summary: 'Show how far the files of development containers are in sync',
  description: `Prints the state of the synchronization as a percentage: what both sides agree on, of all that there is. It is 100 only if nothing is left to send in either direction. Files with problems and conflicts are listed.`,
  words: [
    {
      name: '[devName...]',
      description: 'development containers (default: all that are active)',
      completes: 'development',
    },
  ],
  options,
  examples: [
    { line: 'devctl status', does: 'show the state of the synchronization' },
    { line: 'devctl status api --answer restore', does: 'bring back the files of a folder that was emptied' },
    { line: 'devctl status api --watch', does: 'follow it' },
  ],
  async run(context, words, options) {
    const { showStatus } = await import('../run/develop/status.ts')
    return showStatus(context, words, options)
  },
})
