import { flag, list, type Values } from './options.ts'
import { loading, planning } from './project-options.ts'
import { target, timeout } from './target-options.ts'

const { startOrder: _, includeSecrets: __, ...plan } = planning

/** What `deploy` and `diff` have in common: what is deployed, where to, and what may be done for it. */
export const deploying = {
  ...loading,
  ...plan,
  ...target,
  timeout,
  adopt: flag('--adopt', 'take over objects that are there already and belong to nobody'),
  forceConflicts: flag('--force-conflicts', 'take over fields that another tool applies'),
  takeOver: flag('--take-over', 'deploy although the environment was deployed from another repository or file'),
  registryCredentials: flag(
    '--registry-credentials',
    'let the cluster pull with the credentials of your Docker configuration for the registries of the images',
  ),
  rerun: list('--rerun <service>', 'run the Job of this service again although nothing changed; may be repeated'),
}

export type DeployingValues = Values<typeof deploying>
