import type { JSONSchema } from 'json-schema-to-ts'

/** What a credential plugin prints: https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
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

/** The claims of a token that are read (RFC 7519, 4.1.4). */
export const tokenClaims = {
  type: 'object',
  required: ['exp'],
  properties: { exp: { type: 'number' } },
} as const satisfies JSONSchema
