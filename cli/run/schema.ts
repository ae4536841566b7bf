import { composeShape } from '../../compiler/compose/keys/compose.ts'
import { manifestShape } from '../../compiler/manifest/shape.ts'
import { type JsonSchema, toJsonSchema } from '../../compiler/schema/json-schema.ts'
import { SCHEMA_ADDRESSES } from '../../compiler/schema/schema-addresses.ts'

/** Returns the JSON Schema of a kind of file, generated from its table of keys. */
export function schemaOf(kind: 'manifest' | 'compose'): JsonSchema {
  return kind === 'manifest'
    ? toJsonSchema(
        manifestShape,
        {
          $id: SCHEMA_ADDRESSES.manifest,
          title: 'devctl manifest',
          description: 'devctl.yml: how an application is built, deployed and developed, and its environments',
        },
        note => ` (default: ${note})`,
      )
    : toJsonSchema(composeShape, {
        $id: SCHEMA_ADDRESSES.compose,
        title: 'Compose file',
        description: 'A file of the Compose Specification, with the keys of devctl',
      })
}

/** Returns the JSON Schema of a kind of file as text. */
export const printSchema = (kind: 'manifest' | 'compose'): string => `${JSON.stringify(schemaOf(kind), undefined, 2)}\n`
