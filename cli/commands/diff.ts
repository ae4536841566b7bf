import { command } from '../command.ts'
import { deploying } from '../options/deploy.ts'
import { choice, flag, text } from '../options/option.ts'
import { someServices } from '../options/project.ts'

export const diff = command({
  name: 'diff',
  summary: 'Print what deploy would change',
  description: `Asks the cluster what deploy would make of each object, and prints what differs, who set what is there, and what would be deleted. Changes nothing. Secret values are not printed.

With names of services only what they and the services they depend on are made of is compared.

With --against the rendered manifests of a folder or file take the place of the cluster, which is then not asked; of a folder with a kustomization, as publish writes them, what it builds to.`,
  words: [someServices],
  options: {
    ...deploying,
    exitCode: flag('--exit-code', 'exit with status 3 when something differs'),
    against: text('--against <path>', 'compare with the manifests in this folder or file, without a cluster', {
      completes: 'file',
    }),
    output: choice('--output <form>', 'form of the output', ['text', 'json'], 'text'),
  },
  examples: [
    { line: 'devctl diff', does: 'what deploy would do now' },
    { line: 'devctl diff --against k8s --exit-code', does: 'is the folder what the files render to?' },
  ],
  async run(context, services, options) {
    const { diffApplication } = await import('../run/diff.ts')
    return diffApplication(context, { ...options, services })
  },
})
