import { FORGE_KINDS, parseBranchName } from '../../compiler/values/repository-names.ts'
import { folderPath, inForm } from '../../operations/project/checks.ts'
import { ociReference } from '../../operations/publish/oci-reference.ts'
import { choice, flag, text, type Values } from './option.ts'
import { loading, planning } from './project.ts'
import { timeout } from './target.ts'

const { includeSecrets: _, ...plan } = planning

/** What is written, and to which repository. */
export const publishing = {
  ...loading,
  ...plan,
  repository: text(
    '--repository <address>',
    'address or folder of the GitOps repository (default: that of the environment)',
    { completes: 'folder' },
  ),
  branch: text('--branch <name>', 'branch of the repository (default: that of the environment, else its main branch)', {
    check: inForm(parseBranchName),
  }),
  path: text(
    '--path <folder>',
    'folder in the repository (default: that of the environment, else `environments/ENVIRONMENT/NAME`)',
    {
      check: folderPath,
    },
  ),
  layout: choice(
    '--layout <layout>',
    'one file per object, one file for all, or a base with an overlay for each environment',
    ['plain', 'single-file', 'kustomize'],
  ),
  takeOver: flag('--take-over', 'replace files in the folder that were edited by hand or belong to something else'),
  timeout,
}

/** How it is published, and what is printed. */
export const dryRun = flag('--dry-run', 'print what would change, and change nothing')
export const output = choice('--output <form>', 'form of the result', ['text', 'json'], 'text')
export const pullRequest = flag(
  '--pull-request',
  'push to a branch of its own, and open a pull request with the token in the environment, or print its text',
)
export const forge = choice(
  '--forge <kind>',
  'what kind of server the repository is on (default: known from its host name, else the server is asked)',
  FORGE_KINDS,
)
export const rollback = flag('--rollback', 'publish although the repository holds a newer commit of the source')

export const oci = text(
  '--oci <reference>',
  'push the folder to a registry as an OCI artifact, in place of a commit: `REGISTRY/PATH` or `REGISTRY/PATH:TAG` (default tag: the environment)',
  { check: ociReference },
)

export type PublishingValues = Values<typeof publishing>
