import { diagnostic } from '../diagnostics/diagnostic.ts'

export const syntax = diagnostic({
  code: 'yaml/syntax',
  severity: 'error',
  explain:
    'The file is not valid YAML, and none of it was read. The position is where the parser stopped; the mistake is often a line above: a missing quote, a tab, or wrong indentation.',
  text: (p: { message: string; hint?: string | undefined }) => ({ message: p.message, hint: p.hint }),
})
export const duplicateKey = diagnostic({
  code: 'yaml/duplicate-key',
  severity: 'error',
  explain:
    'A mapping has the same key twice, so one of the values would be lost silently. Remove one. Instead of several merge keys, write one with a list: `<<: [*a, *b]`.',
  text: (p: { key: string }) => ({
    message: `\`${p.key}\` is already defined in this mapping`,
    hint: p.key === '<<' ? 'write one merge key with a list: `<<: [*a, *b]`' : undefined,
  }),
})
export const keyNotText = diagnostic({
  code: 'yaml/key-not-a-string',
  severity: 'error',
  explain: 'Keys in a Compose file are strings. Quote a number, a boolean or `null` as a key: `"8080": x`.',
  text: (p: { key: string; type: string }) => ({
    message: `the key \`${p.key}\` is ${p.type}, not a string`,
    hint: /^[\w.-]+$/.test(p.key) ? `quote it: \`"${p.key}"\`` : undefined,
  }),
})
export const unknownAnchor = diagnostic({
  code: 'yaml/unknown-anchor',
  severity: 'error',
  explain:
    'An alias (`*name`) needs an anchor (`&name`) earlier in the same document. Anchors are not visible in other files or in the next document after `---`.',
  text: (p: { name: string }) => ({ message: `no anchor \`&${p.name}\` before this alias in the document` }),
})
export const aliasCycle = diagnostic({
  code: 'yaml/alias-cycle',
  severity: 'error',
  explain: 'An alias is inside the value of its own anchor, which would make the value infinite.',
  text: (p: { name: string }) => ({ message: `the alias \`*${p.name}\` is inside its own anchor` }),
})
export const mergeTarget = diagnostic({
  code: 'yaml/merge-target',
  severity: 'error',
  explain:
    'The merge key `<<` takes a mapping, an alias of a mapping, or a list of them. A list of `KEY=value` strings cannot be merged: write the anchored value as a mapping (`KEY: value`).',
  text: (p: { found: string }) => ({
    message: `\`<<\` needs a mapping, not ${p.found}`,
    hint: p.found === 'a list' ? 'write the anchored list as a mapping' : undefined,
  }),
})
export const unknownTag = diagnostic({
  code: 'yaml/unknown-tag',
  severity: 'warning',
  explain:
    'Compose supports the tags `!reset` and `!override` and the standard YAML tags (`!!str` and the like). Other tags are ignored, and a scalar with one is text.',
  text: (p: { tag: string }) => ({ message: `unknown tag \`${p.tag}\` is ignored` }),
})
export const wrongTag = diagnostic({
  code: 'yaml/wrong-tag',
  severity: 'error',
  explain:
    'A standard YAML tag (`!!int`, `!!float`, `!!bool`, `!!null`, `!!timestamp`) sets the type of a value, and the value is not of this type. Remove the tag, or correct the value.',
  text: (p: { tag: string; text: string }) => ({
    message: `\`${p.text}\` is not a valid \`${p.tag}\``,
    hint: 'remove the tag',
  }),
})
export const version = diagnostic({
  code: 'yaml/version',
  severity: 'error',
  explain:
    'The directive `%YAML` sets the YAML version of a file. Docker Compose reads version 1.1 and refuses other versions. Remove the line; devctl does not need it.',
  text: (p: { version: string }) => ({
    message: `YAML ${p.version} is not supported in Compose files`,
    hint: 'remove the line',
  }),
})
export const tooLarge = diagnostic({
  code: 'yaml/too-large',
  severity: 'error',
  explain:
    'The file has more than 10 million characters, more than 100,000 nodes in a document, or far more nodes than that after its aliases are expanded. The limit protects against files that are made to exhaust memory.',
  text: (p: { what: string }) => ({ message: p.what }),
})
export const tooDeep = diagnostic({
  code: 'yaml/too-deep',
  severity: 'error',
  explain:
    'Mappings and lists must not be nested more than 500 levels deep. The limit protects against files that are made to exhaust memory.',
  text: (_: Record<never, never>) => ({ message: 'nested more than 500 levels deep' }),
})
