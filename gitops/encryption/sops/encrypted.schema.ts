import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** JSON schema of a Secret as printed by `sops encrypt --output-type json`. */
export const encryptedSecret = {
  type: 'object',
  required: ['apiVersion', 'kind', 'metadata', 'sops'],
  properties: {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
    data: { type: 'object', additionalProperties: { type: 'string' } },
    sops: { type: 'object' },
  },
} as const satisfies JSONSchema

export type EncryptedSecret = FromSchema<typeof encryptedSecret>
