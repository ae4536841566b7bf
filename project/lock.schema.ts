import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

const texts = { type: 'object', additionalProperties: { type: 'string' } } as const

const parts = {
  sources: { type: 'array', items: { type: 'string' } },
  uses: texts,
  files: texts,
  pending: texts,
} as const

/** Schemas of the fields that only `publish` writes. A lock has them if it has the field `source`. */
const facts = {
  environment: { type: 'string' },
  namespace: { type: 'string' },
  source: {
    type: 'object',
    properties: {
      repository: { type: 'string' },
      path: { type: 'string' },
      commit: { type: 'string', pattern: '^[0-9a-f]{40,64}$' },
      isDirty: { type: 'boolean' },
    },
  },
  tool: { type: 'string' },
  inputs: texts,
  images: texts,
  options: texts,
  objects: { type: 'array', items: { type: 'string' } },
  sealed: texts,
} as const

/** Schema of the version of a lock, which determines its other fields. */
export const lockVersion = {
  type: 'object',
  required: ['version'],
  properties: { version: { type: 'integer' } },
} as const satisfies JSONSchema

/** Schema of a lock of the current version. */
export const lockFile = {
  type: 'object',
  required: ['version', 'application', 'files'],
  properties: { version: { const: 2 }, application: { type: 'string' }, ...parts, ...facts },
} as const satisfies JSONSchema

/** Schema of a lock of the first version, which called the application an environment, and contained no facts. */
export const firstLockFile = {
  type: 'object',
  required: ['version', 'environment', 'files'],
  properties: { version: { const: 1 }, environment: { type: 'string' }, ...parts },
} as const satisfies JSONSchema

export type LockFile = FromSchema<typeof lockFile>
export type FirstLockFile = FromSchema<typeof firstLockFile>
