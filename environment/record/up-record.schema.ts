import type { JSONSchema } from 'json-schema-to-ts'

const path = { type: 'array', items: { type: 'string' } } as const

/**
 * Schema of the annotation that `up` writes to an application (up-record.ts). Any user who may edit the application can
 * change it.
 */
export const upRecord = {
  type: 'object',
  required: ['version', 'development', 'by', 'since', 'mirror', 'before', 'owners'],
  properties: {
    version: { const: 1 },
    development: { type: 'string' },
    project: { type: 'string' },
    by: { type: 'string' },
    since: { type: 'string' },
    mirror: { type: 'string' },
    isBeside: { type: 'boolean' },
    original: {
      type: 'object',
      required: ['apiVersion', 'kind', 'name', 'uid'],
      properties: {
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        name: { type: 'string' },
        namespace: { type: 'string' },
        uid: { type: 'string' },
      },
    },
    before: {
      type: 'array',
      items: { type: 'object', required: ['path', 'value'], properties: { path, value: {} } },
    },
    owners: {
      type: 'array',
      items: {
        type: 'object',
        required: ['manager', 'operation', 'fields'],
        properties: {
          manager: { type: 'string' },
          operation: { enum: ['Apply', 'Update'] },
          time: { type: 'string' },
          subresource: { type: 'string' },
          apiVersion: { type: 'string' },
          fields: { type: 'array', items: path },
        },
      },
    },
    paused: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'before'],
        properties: { name: { type: 'string' }, before: { type: ['string', 'null'] } },
      },
    },
    isRestored: { type: 'boolean' },
    isEnding: { type: 'boolean' },
  },
} as const satisfies JSONSchema
