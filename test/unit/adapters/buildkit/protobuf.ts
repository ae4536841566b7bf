import protobuf from 'protobufjs'
import { MESSAGES, type WireField } from '../../../../adapters/buildkit/messages.ts'

/** The messages of the table, as the library protobufjs reads them. */
export const types = new protobuf.Root()
for (const [name, fields] of Object.entries(MESSAGES)) {
  const parts = name.split('.')
  const members = Object.entries(fields).map(([key, field]) => [key, definitionOf(field)])
  types.define(parts.slice(0, -1)).addJSON({ [parts.at(-1)!]: { fields: Object.fromEntries(members) } })
}

function definitionOf({ id, type, isList, isMap }: WireField) {
  return { id, type, ...(isList && { rule: 'repeated' }), ...(isMap && { keyType: 'string' }) }
}
