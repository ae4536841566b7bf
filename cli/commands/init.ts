import { dnsLabel } from '../../project/checks.ts'
import { command } from '../command.ts'
import { flag, optionalText, text, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'

const options = {
  file: text('-f, --file <path>', 'manifest to write (default: `devctl.yml`)', { completes: 'file' }),
  replace: optionalText(
    '--replace [boolean]',
    'replace an existing manifest; the differences are shown, and a copy is kept',
  ),
  namespace: text('-n, --namespace <namespace>', 'write this namespace into the manifest', {
    check: dnsLabel,
    completes: 'namespace',
  }),
  context: text('-c, --context <name>', 'write this context into the manifest', { completes: 'context' }),
  yes: flag('-y, --yes', 'take the first guess of everything without asking'),
  analyze: flag('--analyze', 'print what was found without writing anything'),
  output: { ...output('text', 'json'), description: 'output format of `--analyze`' },
  v1: flag('--v1', 'ask one question, about the language, and write one development container; also `-v1`'),
}

/** Options of `init`. */
export type InitValues = Values<typeof options>

export const init = command({
  name: 'init',
  group: 'Files',
  summary: 'Write a manifest for this project',
  description: `Looks at the project and writes \`devctl.yml\`: development containers for the applications that it finds, with image, command, ports, caches and debugger, the images of Dockerfiles, and the command that deploys a chart or manifests. A comment beside each value says where it was read from. A project with a Compose file needs no manifest; one with host volumes is offered a \`dev\` section.

On a terminal it asks before it writes; elsewhere \`--yes\` takes the first guess of everything. It also writes \`.stignore\`, the rules for files that \`up\` does not synchronize, where there is none.`,
  options,
  examples: [
    { line: 'devctl init', does: 'answer questions on a terminal' },
    { line: 'devctl init --yes --replace', does: 'write the manifest again from what is there now' },
    { line: 'devctl init --analyze --output json', does: 'print what was found for a program' },
  ],
  async run(context, _words, options) {
    const { initManifest } = await import('../run/init.ts')
    return initManifest(context, options)
  },
})
