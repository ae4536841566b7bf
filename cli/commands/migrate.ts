import { command } from '../command.ts'
import { flag, text, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'

const options = {
  write: flag('--write', 'write the result: a new file, or the changes of a Compose file'),
  to: text('--to <path>', 'new file to write (default: `devctl.yml` or `compose.yaml`)', { completes: 'file' }),
  replace: flag('--replace', 'replace an existing file; a copy is kept'),
  output: output('text', 'json'),
}

/** Options of `migrate`. */
export type MigrateValues = Values<typeof options>

export const migrate = command({
  name: 'migrate',
  group: 'Files',
  summary: 'Convert files of Okteto, kompose, Traefik or `docker run`',
  description: `Reads what another tool reads, and prints what devctl reads instead: \`devctl.yml\` for an Okteto manifest, \`compose.yaml\` for \`docker run\` commands, and the changes of a Compose file for its labels of kompose and Traefik. The commands are the arguments after \`--\`, or in a script or page. Without files, it reads the Okteto manifest and the Compose files of this folder.

Only \`--write\` writes files. What cannot be carried over is printed to standard error with its line, the reason and what to do by hand. A setting that is already there stays, so a second run changes nothing.`,
  words: [
    {
      name: '[file...]',
      description: 'Okteto manifests, Compose files, scripts with `docker run`; `-` is standard input',
    },
  ],
  options,
  examples: [
    { line: 'devctl migrate', does: 'print what would be written for the files of this folder' },
    { line: 'devctl migrate okteto.yml --write', does: 'write `devctl.yml`; the Okteto manifest stays' },
    { line: 'devctl migrate compose.yaml --write', does: 'add the equivalents of labels of kompose and Traefik' },
    { line: 'devctl migrate -- docker run -d -p 8080:80 nginx', does: 'print a Compose file for a command' },
    { line: 'devctl migrate start.sh --write --to compose.yaml', does: 'write a service for each command of a script' },
  ],
  async run(context, files, options) {
    const { migrateFiles } = await import('../run/migrate.ts')
    return migrateFiles(context, files, options)
  },
})
