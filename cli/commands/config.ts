import { command } from '../command.ts'
import { flag, optionalText, type Values } from '../options/option.ts'
import { documentOutput } from '../options/output.ts'
import { loading, someServices } from '../options/project.ts'

const options = {
  ...loading,
  output: documentOutput('output format of the configuration and of `--provenance` (default: yaml)', 'yaml', 'json'),
  provenance: flag('--provenance', 'print where each value is set, what it replaced and which variables were used'),
  services: flag('--services', 'print the service names, one per line'),
  images: flag('--images', 'print the images of the services'),
  volumes: flag('--volumes', 'print the volume names'),
  networks: flag('--networks', 'print the network names'),
  profiles: flag('--profiles', 'print the profile names'),
  hash: optionalText(
    '--hash [services]',
    'print a hash of the configuration of these services, separated by commas (default: all)',
    { completes: 'service' },
  ),
  allResources: flag('--all-resources', 'also print volumes, networks, secrets and configs that no service uses'),
}

/** Options of `config`. */
export type ConfigValues = Values<typeof options>

export const config = command({
  name: 'config',
  group: 'Files',
  summary: 'Print the merged Compose files with variables substituted',
  description: `Loads the Compose files and prints the resulting configuration in the format of \`docker compose config\`: with defaults, long syntax and absolute paths. Loading the output again gives the same result.`,
  words: [someServices],
  options,
  examples: [
    { line: 'devctl config -f compose.yaml -f compose.prod.yaml', does: 'print two files merged' },
    { line: 'devctl config --provenance | grep services.web.image', does: 'find out where a value is set' },
  ],
  async run(context, services, options) {
    const { printModel } = await import('../run/config.ts')
    return printModel(context, services, options)
  },
})
