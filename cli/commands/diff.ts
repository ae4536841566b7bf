import { command } from '../command.ts'
import { deploying } from '../options/deploy.ts'
import { flag, text, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { someServices } from '../options/project.ts'

const options = {
  ...deploying,
  exitCode: flag('--exit-code', 'exit with status 3 if there are differences'),
  against: text('--against <path>', 'compare with the manifests in this folder or file instead of a cluster', {
    completes: 'file',
  }),
  output: output('text', 'json'),
}

/** Options of `diff`. */
export type DiffValues = Values<typeof options>

export const diff = command({
  name: 'diff',
  group: 'Deploy',
  summary: 'Print what deploy would change',
  description: `Asks the cluster what each object would be after a deploy, and prints the differences, who set the current values, and what would be deleted. Changes nothing. Secret values are not printed.

With service names, only the objects of these services and their dependencies are compared.

With --against, the files are compared with rendered manifests in a folder or file, and no cluster is contacted. For a folder with a kustomization, as publish writes it, its build output is compared.`,
  words: [someServices],
  options,
  examples: [
    { line: 'devctl diff', does: 'print what deploy would change now' },
    {
      line: 'devctl diff --against k8s --exit-code',
      does: 'check whether the folder matches what the files render to',
    },
  ],
  async run(context, services, options) {
    const { diffApplication } = await import('../run/diff.ts')
    return diffApplication(context, services, options)
  },
})
