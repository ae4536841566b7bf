import { command } from '../command.ts'

export const kubeconfig = command({
  name: 'kubeconfig',
  summary: 'Let kubectl use the current context and namespace',
  description: `Makes the current context of devctl and its namespace the current ones of the kubeconfig, so that kubectl, helm and the like work where devctl works. Nothing else in the file is changed.`,
  options: {},
  async run(context) {
    const { updateKubeconfig } = await import('../run/kubeconfig.ts')
    return updateKubeconfig(context)
  },
})
