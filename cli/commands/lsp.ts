import { command } from '../command.ts'

export const lsp = command({
  name: 'lsp',
  group: 'Files',
  summary: 'Run a language server for editors',
  description: `Serves an editor over standard input and output by the Language Server Protocol, for Compose files and \`devctl.yml\`: the diagnostics of \`validate\` while you type, what a key becomes in Kubernetes, completion, definitions, symbols and quick fixes. Editors start it; docs/editors.md has their settings.

It reads what \`validate\` reads. It runs no commands and connects to no cluster.`,
  options: {},
  examples: [{ line: 'devctl lsp', does: 'serve the editor that started it' }],
  async run(context) {
    const { runLanguageServer } = await import('../run/lsp.ts')
    return runLanguageServer(context)
  },
})
