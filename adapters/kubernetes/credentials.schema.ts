import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/**
 * The `exec` part of a user of the kubeconfig:
 * https://kubernetes.io/docs/reference/access-authn-authz/authentication/#configuration
 */
export const pluginConfig = {
  type: 'object',
  required: ['command'],
  properties: {
    apiVersion: { type: 'string' },
    command: { type: 'string' },
    args: { type: ['array', 'null'], items: { type: 'string' } },
    env: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['name', 'value'],
        properties: { name: { type: 'string' }, value: { type: 'string' } },
      },
    },
    installHint: { type: 'string' },
    provideClusterInfo: { type: 'boolean' },
    interactiveMode: { enum: ['Never', 'IfAvailable', 'Always'] },
  },
} as const satisfies JSONSchema

/**
 * The output of a credential plugin:
 * https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
 */
export const execCredential = {
  type: 'object',
  required: ['status'],
  properties: {
    status: {
      type: 'object',
      properties: {
        token: { type: 'string' },
        clientCertificateData: { type: 'string' },
        clientKeyData: { type: 'string' },
      },
    },
  },
} as const satisfies JSONSchema

/** Claims of a token that devctl reads (RFC 7519, 4.1.4). */
export const tokenClaims = {
  type: 'object',
  required: ['exp'],
  properties: { exp: { type: 'number' } },
} as const satisfies JSONSchema

export type PluginConfig = FromSchema<typeof pluginConfig>
