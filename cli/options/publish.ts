import { FORGE_KINDS, parseBranchName } from '../../compiler/values/repository-names.ts'
import { ociReference } from '../../gitops/publish/oci-reference.ts'
import { folderPath, parsedBy } from '../../project/checks.ts'
import { choice, flag, text, type Values } from './option.ts'
import { output } from './output.ts'
import { loading, planning } from './project.ts'
import { timeout } from './target.ts'

const { includeSecrets: _, ...plan } = planning

/** Options that select the content to publish and the repository. */
export const publishing = {
  ...loading,
  ...plan,
  repository: text(
    '--repository <address>',
    'address or folder of the GitOps repository (default: from the environment of the manifest)',
    { completes: 'folder' },
  ),
  branch: text(
    '--branch <name>',
    'branch of the repository (default: from the environment of the manifest, or the default branch)',
    {
      check: parsedBy(parseBranchName),
    },
  ),
  path: text(
    '--path <folder>',
    'folder in the repository (default: from the environment of the manifest, or `environments/ENVIRONMENT/NAME`)',
    {
      check: folderPath,
    },
  ),
  layout: choice('--layout <layout>', 'one file per object, a single file, or a base with an overlay per environment', [
    'plain',
    'single-file',
    'kustomize',
  ]),
  takeOver: flag('--take-over', 'replace files in the folder that were edited by hand or that devctl did not write'),
  timeout,
}

/** Option to print the changes of a publish without making them. */
export const dryRun = flag('--dry-run', 'print what would change without changing anything')
export const publishOutput = output('text', 'json')
export const pullRequest = flag(
  '--pull-request',
  'push to a separate branch and open a pull request with the token from the environment variables; without a token, print its text',
)
export const forge = choice(
  '--forge <kind>',
  'kind of server that hosts the repository (default: detected from the host name, or by asking the server)',
  FORGE_KINDS,
)
export const rollback = flag('--rollback', 'publish even if the repository holds a newer source commit')

export const oci = text(
  '--oci <reference>',
  'push the folder to a registry as an OCI artifact instead of committing it: `REGISTRY/PATH` or `REGISTRY/PATH:TAG` (default tag: the environment)',
  { check: ociReference },
)

export type PublishingValues = Values<typeof publishing>
