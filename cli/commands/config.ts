import { command } from '../command.ts'
import { choice, flag, optionalText } from '../options/option.ts'
import { loading, someServices } from '../options/project.ts'

export const config = command({
  name: 'config',
  summary: 'Print the Compose files as one: merged, with variables substituted',
  description: `Loads Compose files and prints what they say together, in the form that \`docker compose config\` prints: defaults filled in, short forms made long, paths absolute. Reading the output again gives the same.`,
  words: [someServices],
  options: {
    ...loading,
    format: choice('--format <format>', 'form of the output', ['yaml', 'json'], 'yaml'),
    provenance: flag(
      '--provenance',
      'print where each value is written, what it replaced and which variables took part',
    ),
    services: flag('--services', 'print the names of the services, one per line'),
    images: flag('--images', 'print the images of the services'),
    volumes: flag('--volumes', 'print the names of the volumes'),
    networks: flag('--networks', 'print the names of the networks'),
    profiles: flag('--profiles', 'print the names of the profiles'),
    hash: optionalText(
      '--hash [services]',
      'print a hash of the configuration of these services, joined by commas (default: all)',
    ),
    allResources: flag('--all-resources', 'print also volumes, networks, secrets and configs that no service uses'),
    quiet: flag('-q, --quiet', 'print nothing but diagnostics'),
  },
  examples: [
    { line: 'devctl config -f compose.yaml -f compose.prod.yaml', does: 'what two files say together' },
    { line: 'devctl config --provenance | grep services.web.image', does: 'where a value comes from' },
  ],
  async run(context, services, options) {
    const { printModel } = await import('../run/config.ts')
    return printModel(context, services, options)
  },
})
