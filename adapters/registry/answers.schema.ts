import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/**
 * The response of a token service. The token is in `token`
 * (https://distribution.github.io/distribution/spec/auth/token/), or in `access_token` (…/oauth/).
 */
export const tokenAnswer = {
  type: 'object',
  properties: { token: { type: ['string', 'null'] }, access_token: { type: ['string', 'null'] } },
} as const satisfies JSONSchema

/**
 * The error response of a registry: https://github.com/opencontainers/distribution-spec/blob/main/spec.md#error-codes
 */
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
 * An image manifest or an index, in OCI or Docker format:
 * https://github.com/opencontainers/image-spec/blob/main/manifest.md
 */
export const imageManifest = {
  type: 'object',
  required: ['schemaVersion'],
  properties: { schemaVersion: { const: 2 } },
} as const satisfies JSONSchema

/**
 * The manifest of an artifact for Flux: its configuration and one layer
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

const digest = { type: 'string', pattern: '^sha(256:[0-9a-f]{64}|512:[0-9a-f]{128})$' } as const

/**
 * The location of an image's configuration: in its manifest, or in one of the manifests of an index
 * (https://github.com/opencontainers/image-spec/blob/main/image-index.md).
 */
export const configPlace = {
  type: 'object',
  properties: {
    config: { type: 'object', required: ['digest'], properties: { digest } },
    manifests: {
      type: 'array',
      items: {
        type: 'object',
        required: ['digest'],
        properties: {
          digest,
          platform: {
            type: ['object', 'null'],
            properties: { os: { type: 'string' }, architecture: { type: 'string' } },
          },
        },
      },
    },
  },
} as const satisfies JSONSchema

const parts = { type: 'array', items: { type: 'object', required: ['digest'], properties: { digest } } } as const

/** All content that a manifest or an index refers to. A copy of the image needs this content. */
export const imageParts = {
  type: 'object',
  properties: { config: parts.items, layers: parts, manifests: parts },
} as const satisfies JSONSchema

/**
 * The fields of an image configuration that devctl uses
 * (https://github.com/opencontainers/image-spec/blob/main/config.md; `Healthcheck` is Docker's).
 */
export const imageConfiguration = {
  type: 'object',
  required: ['rootfs'],
  properties: {
    rootfs: { type: 'object' },
    config: {
      type: ['object', 'null'],
      properties: {
        User: { type: ['string', 'null'] },
        WorkingDir: { type: ['string', 'null'] },
        Entrypoint: { type: ['array', 'null'], items: { type: 'string' } },
        Cmd: { type: ['array', 'null'], items: { type: 'string' } },
        ExposedPorts: { type: ['object', 'null'] },
        Volumes: { type: ['object', 'null'] },
        Healthcheck: {
          type: ['object', 'null'],
          properties: {
            Test: { type: ['array', 'null'], items: { type: 'string' } },
            Interval: { type: 'integer' },
            Timeout: { type: 'integer' },
            StartPeriod: { type: 'integer' },
            StartInterval: { type: 'integer' },
            Retries: { type: 'integer' },
          },
        },
      },
    },
  },
} as const satisfies JSONSchema

/** An error in the error response of a registry. */
export type RegistryError = FromSchema<typeof errorAnswer>['errors'][number]
