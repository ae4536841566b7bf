import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/** An entry of an index: https://github.com/opencontainers/image-spec/blob/main/descriptor.md */
export const layoutManifest = {
  type: 'object',
  required: ['digest'],
  properties: {
    digest: { type: 'string' },
    annotations: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
  },
} as const satisfies JSONSchema

/** `index.json`: https://github.com/opencontainers/image-spec/blob/main/image-layout.md#indexjson-file */
export const layoutIndex = {
  type: 'object',
  properties: { manifests: { type: ['array', 'null'], items: layoutManifest } },
} as const satisfies JSONSchema

export type LayoutManifest = FromSchema<typeof layoutManifest>
export type LayoutIndex = FromSchema<typeof layoutIndex>
