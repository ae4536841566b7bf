import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  output: output('text', 'json'),
}

/** Options of `history`. */
export type HistoryValues = Values<typeof options>

export const history = command({
  name: 'history',
  group: 'Deploy',
  summary: 'List the last deploys and what they changed',
  description: `Lists the last 10 deploys of the environment that changed something: who deployed, when, which commit, and which objects were created, updated and deleted. With a number, prints the changes of that deploy. Values of variables and files are not kept, only that they changed.

With --name, no files are needed.`,
  words: [{ name: '[number]', description: 'the deploy whose changes are printed' }],
  options,
  examples: [
    { line: 'devctl history', does: 'list the last deploys of the application in this folder' },
    { line: 'devctl history 3', does: 'print what deploy 3 changed' },
    { line: "devctl history --output json | jq -r '.[0].commit'", does: 'print the commit of the last deploy' },
  ],
  async run(context, words, options) {
    const { showHistory } = await import('../run/history.ts')
    return showHistory(context, words, options)
  },
})
