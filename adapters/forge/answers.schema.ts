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
 * The fields of a pull request that are read and mean the same on GitHub and Gitea, which has taken
 * over GitHub's API.
 */
export const pull = { type: 'object', required: pullRequired, properties: pullFields } as const satisfies JSONSchema

/**
 * GitHub's list of pull requests (https://docs.github.com/rest/pulls/pulls#list-pull-requests):
 * each with the repositories of its branches; that of a fork may be gone.
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
 * Gitea's list of pull requests, with the repositories of their branches:
 * https://docs.gitea.com/api/ (`PullRequest`).
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

/** A refusal of Gitea, which names the description of its API. */
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

/** The fields of https://docs.gitlab.com/api/merge_requests/ that are read. */
export const mergeRequest = {
  type: 'object',
  required: mergeRequired,
  properties: mergeFields,
} as const satisfies JSONSchema

/**
 * GitLab's list of merge requests: each with the projects of its branches; that of a fork may be
 * gone.
 */
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

/** The comments of a request: https://docs.github.com/rest/issues/comments, https://docs.gitlab.com/api/notes/, and those of Gitea. */
export const requestComments = {
  type: 'array',
  items: {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'integer' },
      body: { type: ['string', 'null'] },
      // Absent for a user who is gone. `type` is GitHub's: `User`, `Bot`.
      user: {
        type: ['object', 'null'],
        required: ['id'],
        properties: { id: { type: 'integer' }, type: { type: 'string' } },
      },
      // GitLab's word.
      author: { type: ['object', 'null'], required: ['id'], properties: { id: { type: 'integer' } } },
    },
  },
} as const satisfies JSONSchema

/** The user of a token: https://docs.github.com/rest/users/users#get-the-authenticated-user, and the same of the others. */
export const forgeUser = {
  type: 'object',
  required: ['id'],
  properties: { id: { type: 'integer' } },
} as const satisfies JSONSchema

/** GitLab's users of a name: https://docs.gitlab.com/api/users/ */
export const gitlabUsers = {
  type: 'array',
  items: { type: 'object', required: ['id'], properties: { id: { type: 'integer' } } },
} as const satisfies JSONSchema

/**
 * A refusal of any forge: which of the fields it has, and of what form, differs
 * (`refusal-text.ts`).
 */
export const forgeRefusal = {
  type: 'object',
  properties: { message: {}, errors: {}, error: {}, error_description: {} },
} as const satisfies JSONSchema

export type Pull = FromSchema<typeof pull>
export type MergeRequest = FromSchema<typeof mergeRequest>
