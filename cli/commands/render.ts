import { command } from '../command.ts'
import { choice, flag, text } from '../options/option.ts'
import { loading, planning, someServices } from '../options/project.ts'

export const render = command({
  name: 'render',
  summary: 'Print the Kubernetes manifests of a Compose file, or write them to a folder',
  description: `Compiles Compose files and prints the manifests, or writes one file per object with --output-dir.

With names of services only their objects are made, and those of the services they depend on. What is read is the files, their variables and the options, never a cluster or a context: the same input gives the same bytes on every machine. When there is an error nothing is printed or written.`,
  words: [someServices],
  options: {
    ...loading,
    ...planning,
    format: choice(
      '--format <format>',
      'form of the output; kustomize adds a kustomization.yaml to the folder (default: yaml, or what `publish` commits for an environment with a `repository`)',
      ['yaml', 'json', 'kustomize'],
    ),
    layout: choice(
      '--layout <layout>',
      'write what `publish` commits, in this layout; with kustomize the folder stands for the root of the repository',
      ['plain', 'single-file', 'kustomize'],
    ),
    outputDir: text(
      '--output-dir <folder>',
      'write one file per object to this folder, and remove what devctl wrote there before and no longer makes',
      {
        completes: 'folder',
      },
    ),
    takeOver: flag('--take-over', 'replace files in the folder that were edited by hand or belong to something else'),
  },
  examples: [
    {
      line: 'devctl render --namespace shop --domain dev.example.com | kubectl apply -f -',
      does: 'straight to the cluster',
    },
    {
      line: 'devctl render -f compose.yaml -f compose.prod.yaml --output-dir k8s',
      does: 'two files merged, one file per object',
    },
    {
      line: 'devctl render web --image web=registry.example.com/web:1.4',
      does: 'one service, with an image built elsewhere',
    },
  ],
  async run(context, services, options) {
    const { renderFiles } = await import('../run/render.ts')
    return renderFiles(context, services, options)
  },
})
