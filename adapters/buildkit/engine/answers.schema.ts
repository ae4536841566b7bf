import type { JSONSchema } from 'json-schema-to-ts'

/**
 * Schemas of the responses to `GET /version` (`engineVersion`) and `GET /info` (`engineInfo`):
 * https://docs.docker.com/reference/api/engine/.
 */
export const engineVersion = {
  type: 'object',
  properties: { Version: { type: 'string' } },
} as const satisfies JSONSchema

export const engineInfo = {
  type: 'object',
  properties: {
    DriverStatus: { type: ['array', 'null'], items: { type: 'array', items: { type: 'string' } } },
  },
} as const satisfies JSONSchema

/** Schemas of an error response (`engineError`) and of a line in the progress of a push (`pushProgress`). */
export const engineError = {
  type: 'object',
  required: ['message'],
  properties: { message: { type: 'string' } },
} as const satisfies JSONSchema

export const pushProgress = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    status: { type: 'string' },
    error: { type: 'string' },
    progressDetail: {
      type: ['object', 'null'],
      properties: { current: { type: 'number' }, total: { type: 'number' } },
    },
    aux: { type: ['object', 'null'], properties: { Digest: { type: 'string' } } },
  },
} as const satisfies JSONSchema

/**
 * Schemas of `config.json` (`currentContext`) and of `contexts/meta/ID/meta.json` in the same folder
 * (`contextMetadata`).
 */
export const currentContext = {
  type: 'object',
  properties: { currentContext: { type: 'string' } },
} as const satisfies JSONSchema

export const contextMetadata = {
  type: 'object',
  required: ['Endpoints'],
  properties: {
    Endpoints: {
      type: 'object',
      required: ['docker'],
      properties: { docker: { type: 'object', properties: { Host: { type: 'string' } } } },
    },
  },
} as const satisfies JSONSchema
