import { command } from '../command.ts'
import { choice, flag, text, type Values } from '../options/option.ts'
import { documentOutput } from '../options/output.ts'
import { loading, planning, someServices } from '../options/project.ts'
import { report } from '../options/report.ts'

const options = {
  ...loading,
  ...planning,
  output: documentOutput(
    'output format; `kustomize` adds a kustomization.yaml to the folder (default: yaml, or what `publish` commits for an environment with a `repository`)',
    'yaml',
    'json',
    'kustomize',
  ),
  layout: choice(
    '--layout <layout>',
    'write what `publish` commits, in this layout; with `kustomize`, the folder is the root of the repository',
    ['plain', 'single-file', 'kustomize'],
  ),
  outputDir: text(
    '--output-dir <folder>',
    'write one file per object to this folder, and remove files that devctl wrote there before and no longer renders',
    {
      completes: 'folder',
    },
  ),
  report,
  watch: flag('--watch', 'render again whenever a file changes that was read, until Ctrl-C; with `--output-dir`'),
  takeOver: flag('--take-over', 'replace files in the folder that were edited by hand or that devctl did not write'),
}

/** Options of `render`. */
export type RenderValues = Values<typeof options>

export const render = command({
  name: 'render',
  group: 'Files',
  summary: 'Compile Compose files to Kubernetes manifests',
  description: `Compiles Compose files and prints the manifests, or writes one file per object with --output-dir.

With service names, only the objects of these services and their dependencies are rendered. devctl reads the files, their variables and the options, never a cluster or a context: the same input gives the same output on every machine, byte for byte. If there is an error, nothing is printed or written.`,
  words: [someServices],
  options,
  examples: [
    {
      line: 'devctl render --namespace shop --domain dev.example.com | kubectl apply -f -',
      does: 'apply the manifests with kubectl',
    },
    {
      line: 'devctl render -f compose.yaml -f compose.prod.yaml --output-dir k8s',
      does: 'merge two files, and write one file per object',
    },
    {
      line: 'devctl render web --image web=registry.example.com/web:1.4',
      does: 'render one service, with an image that was built elsewhere',
    },
  ],
  async run(context, services, options) {
    const { renderFiles } = await import('../run/render.ts')
    return renderFiles(context, services, options)
  },
})
