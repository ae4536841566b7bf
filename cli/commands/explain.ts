import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading, planning } from '../options/project.ts'

const options = {
  ...loading,
  ...planning,
  output: output('text', 'json'),
}

/** Options of `explain`. */
export type ExplainValues = Values<typeof options>

export const explain = command({
  name: 'explain',
  group: 'Files',
  summary: 'Explain a line, a value of an object, or a diagnostic code',
  description: `Explains what a line of the files became in the manifests, where a value of an object comes from, or what a diagnostic code means.

A key (\`services.web.ports[0]\`) or a line (\`compose.yaml:14\`) leads to the objects and the rule. An object (\`deployment/web\`) with a path, or a line of a rendered file, leads back to the lines, variables and defaults. devctl reads the same files as \`render\`, with the same options, and never a cluster. Secret values are masked.

Without arguments, it lists all diagnostic codes; the first part of a code lists its family.`,
  words: [
    {
      name: '[subject]',
      description:
        'key, line (`FILE:LINE` or `FILE:LINE:COLUMN`), object (`KIND/NAME`), or diagnostic code, such as `services/unknown-key`',
      completes: 'code',
    },
    {
      name: '[path]',
      description: 'path in the object, such as `spec.replicas` or `containers[web].image` (default: all values)',
    },
  ],
  options,
  examples: [
    { line: "devctl explain 'services.web.ports[0]'", does: 'show what a key became, and by which rule' },
    { line: 'devctl explain compose.yaml:14', does: 'show what a line became' },
    {
      line: "devctl explain deployment/web 'containers[web].image'",
      does: 'find the line that a value of an object comes from',
    },
    { line: 'devctl explain k8s/web/deployment-web.yaml:31', does: 'find the origin of a line of a rendered file' },
    { line: 'devctl explain interpolation/required', does: 'explain what a code means and how to fix the error' },
    { line: 'devctl explain platform/quota', does: 'explain an error of the platform' },
  ],
  async run(context, [subject, path], options) {
    const { explainSubject } = await import('../run/explain.ts')
    return explainSubject(context, subject, path, options)
  },
})
