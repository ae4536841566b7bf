import { command } from '../command.ts'
import { text, type Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'
import { podIndex } from './exec.ts'

const options = {
  ...loading,
  name: environmentName,
  ...target,
  index: podIndex,
  container: text('--container <name>', 'container of the Pod (default: that of the service)'),
}

/** Options of `cp`. */
export type CopyValues = Values<typeof options>

export const cp = command({
  name: 'cp',
  group: 'Deploy',
  summary: 'Copy files between a deployed service and this machine',
  description: `Copies a file or folder into a container of a deployed service, or from it. \`SERVICE:PATH\` is a path in the container. If the target is a folder that exists, the source is copied into it; \`FOLDER/.\` is the content of a folder. Modes and links are kept; links of a container that lead outside the copied folder are left out.

A folder needs \`tar\` in the image; a single file can be copied without it. A file that is copied into a container is lost when its Pod is replaced, unless it is in a volume.`,
  words: [
    { name: '<source>', description: 'file or folder, or `SERVICE:PATH`', completes: 'file' },
    { name: '<target>', description: 'file or folder, or `SERVICE:PATH`', completes: 'file' },
  ],
  options,
  examples: [
    { line: 'devctl cp db:/backup ./backup', does: 'copy a folder of the service `db` to this machine' },
    { line: 'devctl cp ./seed.sql db:/tmp/', does: 'copy a file into a folder of the service `db`' },
  ],
  async run(context, [source = '', goal = ''], options) {
    const { copyFiles } = await import('../run/cp.ts')
    return copyFiles(context, { source, target: goal }, options)
  },
})
