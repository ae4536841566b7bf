import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/**
 * Schema of `contexts.json` of DEVCTL_HOME. Keys that this version does not know are allowed, and preserved, because a
 * newer devctl wrote them.
 */
export const contextsFile = {
  type: 'object',
  properties: {
    current: { type: 'string' },
    contexts: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: {
          token: { type: 'string' },
          namespace: { type: 'string' },
          builder: { type: 'string' },
          registry: { type: 'string' },
          domain: { type: 'string' },
          user: { type: 'string' },
          platformRegistry: { type: 'string' },
          ca: { type: 'string' },
          kubernetes: {
            type: 'object',
            properties: { server: { type: 'string' }, ca: { type: 'string' } },
            required: ['server'],
          },
          kubeToken: {
            type: 'object',
            properties: { token: { type: 'string' }, expires: { type: 'string' } },
            required: ['token', 'expires'],
          },
        },
      },
    },
  },
} as const satisfies JSONSchema

export type ContextsFile = FromSchema<typeof contextsFile>
