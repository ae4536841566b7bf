import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/**
 * Fields of Docker's configuration that devctl reads:
 * https://docs.docker.com/reference/cli/docker/login/#credential-stores
 */
export const dockerConfig = {
  type: 'object',
  properties: {
    auths: {
      type: 'object',
      additionalProperties: {
        type: ['object', 'null'],
        properties: {
          // `user:password` in base64.
          auth: { type: 'string' },
          username: { type: 'string' },
          password: { type: 'string' },
          identitytoken: { type: 'string' },
        },
      },
    },
    credsStore: { type: 'string' },
    credHelpers: { type: 'object', additionalProperties: { type: 'string' } },
  },
} as const satisfies JSONSchema

/**
 * The output of `docker-credential-NAME get`:
 * https://github.com/docker/docker-credential-helpers#development
 */
export const helperAnswer = {
  type: 'object',
  required: ['Username', 'Secret'],
  properties: { Username: { type: 'string' }, Secret: { type: 'string' } },
} as const satisfies JSONSchema

export type DockerConfig = FromSchema<typeof dockerConfig>
