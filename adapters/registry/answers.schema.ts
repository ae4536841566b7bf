import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/**
 * What a token service answers: https://distribution.github.io/distribution/spec/auth/token/
 * (`token`), and …/oauth/ (`access_token`).
 */
export const tokenAnswer = {
  type: 'object',
  properties: { token: { type: ['string', 'null'] }, access_token: { type: ['string', 'null'] } },
} as const satisfies JSONSchema

/** https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes */
export const errorAnswer = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: { code: { type: ['string', 'null'] }, message: { type: ['string', 'null'] } },
      },
    },
  },
} as const satisfies JSONSchema

/**
 * An image manifest or an index, of OCI or of Docker:
 * https://github.com/opencontainers/image-spec/blob/main/manifest.md
 */
export const imageManifest = {
  type: 'object',
  required: ['schemaVersion'],
  properties: { schemaVersion: { const: 2 } },
} as const satisfies JSONSchema

/**
 * The manifest of an artifact that Flux reads: its configuration and one layer
 * (https://fluxcd.io/flux/cheatsheets/oci-artifacts/).
 */
export const artifactManifest = {
  type: 'object',
  required: ['config', 'layers'],
  properties: {
    config: {
      type: 'object',
      required: ['mediaType'],
      properties: { mediaType: { type: 'string' } },
    },
    layers: {
      type: 'array',
      items: {
        type: 'object',
        required: ['mediaType', 'digest', 'size'],
        properties: {
          mediaType: { type: 'string' },
          digest: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
          size: { type: 'integer' },
        },
      },
    },
  },
} as const satisfies JSONSchema

/** One of the errors that a registry lists. */
export type RegistryError = FromSchema<typeof errorAnswer>['errors'][number]
