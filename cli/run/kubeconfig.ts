import { selectInKubeconfig } from '../../operations/contexts/kubeconfig-edit.ts'
import { readKubeconfigNames } from '../../operations/contexts/kubeconfig-names.ts'
import { findTarget } from '../../operations/contexts/target.ts'
import type { Context } from '../command.ts'

/** Makes kubectl and its like use the current context and its namespace. A plain cluster has its credentials in the kubeconfig already. */
export async function updateKubeconfig({ io }: Context): Promise<number> {
  const { context, namespace } = await findTarget(io, {})
  const paths = await selectInKubeconfig(await readKubeconfigNames(io), context, namespace)
  io.stdout.write(`Updated Kubernetes context '${context}/${namespace}' in '${paths.join("', '")}'\n`)
  return 0
}
