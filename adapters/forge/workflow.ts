import type { ForgeVariables, NamedServer } from './forge-module.ts'

/** The variable with the token of a workflow. */
export const WORKFLOW_TOKEN = 'GITHUB_TOKEN'

/**
 * The server whose workflow this is. Gitea and Forgejo run the workflows of GitHub, with its
 * variables.
 */
export const workflowServer = (env: ForgeVariables): NamedServer => ({
  web: env.GITHUB_SERVER_URL,
  api: env.GITHUB_API_URL,
})

/** True if the workflow runs on Gitea or Forgejo, by a variable or by the address of the API. */
export const isGiteaWorkflow = (env: ForgeVariables): boolean =>
  env.GITEA_ACTIONS === 'true' || env.FORGEJO_ACTIONS === 'true' || /\/api\/v1\/?$/.test(env.GITHUB_API_URL ?? '')

/**
 * The repository that the token of a workflow is for:
 * https://docs.github.com/actions/concepts/security/github_token; Gitea's is the same.
 */
export const workflowRepository = (variable: string, env: ForgeVariables): string | undefined =>
  env.GITHUB_ACTIONS === 'true' && variable === WORKFLOW_TOKEN ? env.GITHUB_REPOSITORY : undefined
