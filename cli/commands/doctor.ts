import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { loading } from '../options/project.ts'
import { target, timeout } from '../options/target.ts'

const options = { ...loading, ...target, timeout }

/** Options of `doctor`. */
export type DoctorValues = Values<typeof options>

export const doctor = command({
  name: 'doctor',
  group: 'Develop',
  summary: 'Collect what shows why a development container does not work',
  description: `Writes \`devctl-doctor-YYYYMMDDhhmmss.zip\` to the current folder: the log of \`up\`, the state of the synchronization, the manifest and the objects in the cluster, events, logs of containers, permissions, ignore files, and a test of the connection. Values of variables, Secrets and annotations are masked. Works without a running \`up\` and without a cluster; what is missing is named in \`metadata.json\`.

Look into the file before you send it to somebody: logs are those of your application.`,
  words: [
    {
      name: '[devName]',
      description: 'development container (default: the only one, or the one you choose)',
      completes: 'development',
    },
  ],
  options,
  examples: [{ line: 'devctl doctor api', does: 'write the zip for the development container `api`' }],
  async run(context, [dev], options) {
    const { runDoctor } = await import('../run/develop/doctor.ts')
    return runDoctor(context, dev, options)
  },
})
