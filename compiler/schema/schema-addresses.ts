/**
 * Addresses of the JSON Schemas, which are their `$id`. Editors get the schema for an address from SchemaStore or,
 * without a network, from the file that `devctl schema` has written.
 */
export const SCHEMA_ADDRESSES = {
  manifest: 'https://json.schemastore.org/devctl.json',
  compose: 'https://json.schemastore.org/devctl-compose.json',
} as const
