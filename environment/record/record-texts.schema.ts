import type { JSONSchema } from 'json-schema-to-ts'

const text = { type: 'string' } as const
const line = { type: 'integer', minimum: 1, maximum: 1_000_000 } as const

/**
 * Schema of the application that a deploy writes into the record (deployed-application.ts). Members of the namespace
 * can edit it.
 */
export const application = {
  type: 'object',
  required: ['services'],
  properties: {
    services: {
      type: 'array',
      maxItems: 1000,
      items: {
        type: 'object',
        required: ['service', 'kind'],
        properties: {
          service: text,
          kind: text,
          image: text,
          needs: {
            type: 'array',
            maxItems: 1000,
            items: {
              type: 'object',
              required: ['service', 'condition'],
              properties: { service: text, condition: text },
            },
          },
          endpoints: { type: 'array', maxItems: 100, items: text },
          file: text,
          line,
          keys: {
            type: 'object',
            maxProperties: 100,
            additionalProperties: {
              type: 'object',
              required: ['line'],
              properties: { line, value: text },
            },
          },
        },
      },
    },
  },
} as const satisfies JSONSchema

const action = { enum: ['create', 'update', 'replace', 'delete'] } as const

/** Schema of the change lists that a deploy writes into the record (change-lists.ts). */
export const changeLists = {
  type: 'array',
  maxItems: 100,
  items: {
    type: 'object',
    required: ['number', 'by', 'at', 'changes'],
    properties: {
      number: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
      by: text,
      at: text,
      repository: text,
      branch: text,
      commit: text,
      subject: text,
      isDirty: { type: 'boolean' },
      isUnchecked: { type: 'boolean' },
      end: { enum: ['unknown', 'failed', 'interrupted'] },
      left: { type: 'integer', minimum: 1 },
      unapplied: {
        type: 'array',
        maxItems: 5000,
        items: {
          type: 'object',
          required: ['action', 'object'],
          properties: { action, object: text, service: text },
        },
      },
      changes: {
        type: 'array',
        maxItems: 5000,
        items: {
          type: 'object',
          required: ['action', 'object', 'values'],
          properties: {
            action,
            object: text,
            service: text,
            consequence: text,
            values: {
              type: 'array',
              maxItems: 5000,
              items: {
                type: 'object',
                required: ['path'],
                properties: { path: text, before: text, after: text, masked: text },
              },
            },
          },
        },
      },
    },
  },
} as const satisfies JSONSchema
