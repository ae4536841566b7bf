import type { ForgeVariables, NamedServer } from './forge-module.ts'

/** Variable with the token of a workflow. */
export const WORKFLOW_TOKEN = 'GITHUB_TOKEN'

/** Returns the server that runs this workflow. Gitea and Forgejo run GitHub workflows, with GitHub's variables. */
export const workflowServer = (env: ForgeVariables): NamedServer => ({
  web: env.GITHUB_SERVER_URL,
  api: env.GITHUB_API_URL,
})

/** Returns true if the workflow runs on Gitea or Forgejo, as indicated by a variable or the address of the API. */
export const isGiteaWorkflow = (env: ForgeVariables): boolean =>
  env.GITEA_ACTIONS === 'true' || env.FORGEJO_ACTIONS === 'true' || /\/api\/v1\/?$/.test(env.GITHUB_API_URL ?? '')

/**
 * Returns the only repository for which a workflow token is valid:
 * https://docs.github.com/actions/concepts/security/github_token; Gitea works the same way. Undefined for any other
 * token.
 */
export const workflowRepository = (variable: string, env: ForgeVariables): string | undefined =>
  env.GITHUB_ACTIONS === 'true' && variable === WORKFLOW_TOKEN ? env.GITHUB_REPOSITORY : undefined
