import { command } from '../command.ts'

export const kubeconfig = command({
  name: 'kubeconfig',
  summary: 'Write the current context and namespace to the kubeconfig',
  description: `Makes the current context and namespace of devctl the current ones in the kubeconfig, so that kubectl, helm and other tools use them. Nothing else in the file is changed.`,
  options: {},
  async run(context) {
    const { updateKubeconfig } = await import('../run/kubeconfig.ts')
    return updateKubeconfig(context)
  },
})
