/**
 * Addresses of the JSON Schemas: their `$id`. Editors take a schema from SchemaStore under its address; without a
 * network, from the file that `devctl schema` has written.
 */
export const SCHEMA_ADDRESSES = {
  manifest: 'https://json.schemastore.org/devctl.json',
  compose: 'https://json.schemastore.org/devctl-compose.json',
} as const
