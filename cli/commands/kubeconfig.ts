import { command } from '../command.ts'
import { flag, type Values } from '../options/option.ts'
import { target } from '../options/target.ts'

const options = {
  namespace: {
    ...target.namespace,
    description: 'namespace to write (default: $DEVCTL_NAMESPACE, or that of the context)',
  },
  context: { ...target.context, description: 'context to write (default: $DEVCTL_CONTEXT, or the current context)' },
  execCredential: flag('--exec-credential', 'for kubectl: print a token of the platform as an ExecCredential'),
}

/** Options of `kubeconfig`. */
export type KubeconfigValues = Values<typeof options>

export const kubeconfig = command({
  name: 'kubeconfig',
  group: 'Settings',
  summary: 'Write the current context and namespace to the kubeconfig',
  description: `Makes the current context and namespace of devctl the current ones in the kubeconfig, so that kubectl, helm and other tools use them. Nothing else in the file is changed.

For a platform, it writes the cluster, and devctl as the program that gives kubectl a token, which is valid for an hour. The file contains no token.`,
  options,
  async run(context, _words, values) {
    const { updateKubeconfig } = await import('../run/kubeconfig.ts')
    return updateKubeconfig(context, values)
  },
})
