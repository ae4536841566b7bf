import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

const pullFields = {
  number: { type: 'integer' },
  html_url: { type: 'string' },
  title: { type: 'string' },
  body: { type: ['string', 'null'] },
  draft: { type: 'boolean' },
} as const

const pullRequired = ['number', 'html_url', 'title'] as const

/**
 * Fields of a pull request that devctl reads and that have the same meaning on GitHub and Gitea. Gitea's API is a copy
 * of GitHub's.
 */
export const pull = { type: 'object', required: pullRequired, properties: pullFields } as const satisfies JSONSchema

/**
 * GitHub's list of pull requests (https://docs.github.com/rest/pulls/pulls#list-pull-requests), each with the
 * repositories of its branches. The repository of a deleted fork is null.
 */
export const githubPulls = {
  type: 'array',
  items: {
    type: 'object',
    required: [...pullRequired, 'head', 'base'],
    properties: {
      ...pullFields,
      head: {
        type: 'object',
        required: ['ref', 'repo'],
        properties: {
          ref: { type: 'string' },
          repo: { type: ['object', 'null'], required: ['id'], properties: { id: { type: 'integer' } } },
        },
      },
      base: {
        type: 'object',
        required: ['ref', 'repo'],
        properties: {
          ref: { type: 'string' },
          repo: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
        },
      },
    },
  },
} as const satisfies JSONSchema

const giteaBranch = {
  type: 'object',
  required: ['ref', 'repo_id'],
  properties: { ref: { type: 'string' }, repo_id: { type: 'integer' } },
} as const

/**
 * Gitea's list of pull requests, with the repositories of their branches: https://docs.gitea.com/api/ (`PullRequest`).
 */
export const giteaPulls = {
  type: 'array',
  items: {
    type: 'object',
    required: [...pullRequired, 'head', 'base'],
    properties: { ...pullFields, head: giteaBranch, base: giteaBranch },
  },
} as const satisfies JSONSchema

/** Gitea's labels of a repository or an organization. */
export const giteaLabels = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id', 'name'],
    properties: { id: { type: 'integer' }, name: { type: 'string' } },
  },
} as const satisfies JSONSchema

/** The version of a Gitea server. */
export const giteaVersion = {
  type: 'object',
  required: ['version'],
  properties: { version: { type: 'string' } },
} as const satisfies JSONSchema

/** An error response of Gitea, which contains a link to the description of its API. */
export const giteaRefusal = {
  type: 'object',
  required: ['url'],
  properties: { url: { type: 'string', pattern: '/api/swagger$' } },
} as const satisfies JSONSchema

const mergeFields = {
  iid: { type: 'integer' },
  web_url: { type: 'string' },
  title: { type: 'string' },
  description: { type: ['string', 'null'] },
  draft: { type: 'boolean' },
} as const

const mergeRequired = ['iid', 'web_url', 'title'] as const

/** Fields of https://docs.gitlab.com/api/merge_requests/ that devctl reads. */
export const mergeRequest = {
  type: 'object',
  required: mergeRequired,
  properties: mergeFields,
} as const satisfies JSONSchema

/** GitLab's list of merge requests, each with the projects of its branches. The project of a deleted fork is null. */
export const mergeRequests = {
  type: 'array',
  items: {
    type: 'object',
    required: [...mergeRequired, 'source_project_id', 'target_project_id'],
    properties: {
      ...mergeFields,
      source_project_id: { type: ['integer', 'null'] },
      target_project_id: { type: 'integer' },
    },
  },
} as const satisfies JSONSchema

/**
 * The comments of a request: https://docs.github.com/rest/issues/comments, https://docs.gitlab.com/api/notes/, and
 * Gitea's equivalent.
 */
export const requestComments = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'integer' },
      body: { type: ['string', 'null'] },
      // Absent for a deleted user. `type` is GitHub's: `User`, `Bot`.
      user: {
        type: ['object', 'null'],
        required: ['id'],
        properties: { id: { type: 'integer' }, type: { type: 'string' } },
      },
      // GitLab's name for the user.
      author: { type: ['object', 'null'], required: ['id'], properties: { id: { type: 'integer' } } },
    },
  },
} as const satisfies JSONSchema

/** A comment that was created. */
export const writtenComment = {
  type: 'object',
  properties: { id: { type: 'integer' } },
} as const satisfies JSONSchema

/** A webhook that was added: https://docs.github.com/rest/repos/webhooks, and the equivalents of the other forges. */
export const addedWebhook = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' } },
} as const satisfies JSONSchema

/**
 * The user of a token: https://docs.github.com/rest/users/users#get-the-authenticated-user, and the equivalents of the
 * other forges.
 */
export const forgeUser = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' }, login: { type: 'string' }, type: { type: 'string' } },
} as const satisfies JSONSchema

/** GitLab's users with a given name: https://docs.gitlab.com/api/users/ */
export const gitlabUsers = {
  type: 'array',
  items: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
} as const satisfies JSONSchema

/**
 * A repository of GitHub or Gitea, with the permissions of the authenticated user:
 * https://docs.github.com/rest/repos/repos, https://docs.gitea.com/api/ (`Repository`).
 */
export const forgeRepository = {
  type: 'object',
  required: ['id'],
  properties: {
    id: { type: 'integer' },
    permissions: { type: 'object', properties: { push: { type: 'boolean' } } },
  },
} as const satisfies JSONSchema

/** A pull request of GitHub or Gitea with its commit and its repositories. The repository of a deleted fork is null. */
export const pullFacts = {
  type: 'object',
  required: ['number', 'state', 'html_url', 'user', 'head', 'base'],
  properties: {
    number: { type: 'integer' },
    state: { type: 'string' },
    html_url: { type: 'string' },
    title: { type: 'string' },
    user: { ...forgeUser, required: ['id', 'login'] },
    head: {
      type: 'object',
      required: ['ref', 'sha'],
      properties: {
        ref: { type: 'string' },
        sha: { type: 'string' },
        repo: {
          type: ['object', 'null'],
          required: ['id', 'clone_url', 'owner'],
          properties: { id: { type: 'integer' }, clone_url: { type: 'string' }, owner: forgeUser },
        },
      },
    },
    base: {
      type: 'object',
      required: ['repo'],
      properties: { repo: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } } },
    },
  },
} as const satisfies JSONSchema

/**
 * The permission of a user in a repository of GitHub or Gitea: https://docs.github.com/rest/collaborators/collaborators
 */
export const forgePermission = {
  type: 'object',
  required: ['permission', 'user'],
  properties: { permission: { type: 'string' }, user: forgeUser },
} as const satisfies JSONSchema

const access = {
  type: ['object', 'null'],
  properties: { access_level: { type: 'integer' } },
} as const

/** A GitLab project, with the permissions of the authenticated user: https://docs.gitlab.com/api/projects/ */
export const gitlabProject = {
  type: 'object',
  required: ['id', 'http_url_to_repo', 'namespace'],
  properties: {
    id: { type: 'integer' },
    http_url_to_repo: { type: 'string' },
    namespace: { type: 'object', required: ['kind'], properties: { kind: { type: 'string' } } },
    owner: { type: ['object', 'null'], required: ['id'], properties: { id: { type: 'integer' } } },
    permissions: { type: ['object', 'null'], properties: { project_access: access, group_access: access } },
  },
} as const satisfies JSONSchema

/** A GitLab merge request with its commit and its projects. */
export const mergeFacts = {
  type: 'object',
  required: ['iid', 'state', 'web_url', 'sha', 'source_branch', 'source_project_id', 'target_project_id', 'author'],
  properties: {
    iid: { type: 'integer' },
    state: { type: 'string' },
    web_url: { type: 'string' },
    title: { type: 'string' },
    sha: { type: ['string', 'null'] },
    source_branch: { type: 'string' },
    source_project_id: { type: ['integer', 'null'] },
    target_project_id: { type: 'integer' },
    author: {
      type: 'object',
      required: ['id', 'username'],
      properties: { id: { type: 'integer' }, username: { type: 'string' } },
    },
  },
} as const satisfies JSONSchema

/** A member of a GitLab project, or of its groups: https://docs.gitlab.com/api/project_members/ */
export const gitlabMember = {
  type: 'object',
  required: ['id', 'access_level', 'state'],
  properties: { id: { type: 'integer' }, access_level: { type: 'integer' }, state: { type: 'string' } },
} as const satisfies JSONSchema

/** A refusal of any forge. The forges use different fields in different forms (`refusal-text.ts`). */
export const forgeRefusal = {
  type: 'object',
  properties: { message: {}, errors: {}, error: {}, error_description: {} },
} as const satisfies JSONSchema

export type Pull = FromSchema<typeof pull>
export type MergeRequest = FromSchema<typeof mergeRequest>
