import { diagnostic } from '../diagnostics/diagnostic.ts'

export const syntax = diagnostic({
  code: 'yaml/syntax',
  severity: 'error',
  explain:
    'The file is not valid YAML. Nothing of it was read. The place is where the reader could not go on; the mistake is often a line above: a missing quote, a tab, or a wrong indentation.',
  text: (p: { message: string; hint?: string | undefined }) => ({ message: p.message, hint: p.hint }),
})
export const duplicateKey = diagnostic({
  code: 'yaml/duplicate-key',
  severity: 'error',
  explain:
    'A mapping has the same key twice, so one of the two values would be lost silently. Remove one. For several merge keys write one with a list: `<<: [*a, *b]`.',
  text: (p: { key: string }) => ({
    message: `\`${p.key}\` is already defined in this mapping`,
    hint: p.key === '<<' ? 'write one merge key with a list: `<<: [*a, *b]`' : undefined,
  }),
})
export const keyNotText = diagnostic({
  code: 'yaml/key-not-a-string',
  severity: 'error',
  explain: 'Keys in a Compose file are strings. A number, a boolean or `null` as a key has to be quoted: `"8080": x`.',
  text: (p: { key: string; type: string }) => ({
    message: `the key \`${p.key}\` is ${p.type}, not a string`,
    hint: /^[\w.-]+$/.test(p.key) ? `quote it: \`"${p.key}"\`` : undefined,
  }),
})
export const unknownAnchor = diagnostic({
  code: 'yaml/unknown-anchor',
  severity: 'error',
  explain:
    'An alias (`*name`) needs an anchor (`&name`) that stands before it in the same document. Anchors do not reach into other files or into the next document after `---`.',
  text: (p: { name: string }) => ({ message: `no anchor \`&${p.name}\` stands before this alias in the document` }),
})
export const aliasCycle = diagnostic({
  code: 'yaml/alias-cycle',
  severity: 'error',
  explain: 'An alias stands inside the value of its own anchor, which would make the value endless.',
  text: (p: { name: string }) => ({ message: `the alias \`*${p.name}\` stands inside its own anchor` }),
})
export const mergeTarget = diagnostic({
  code: 'yaml/merge-target',
  severity: 'error',
  explain:
    'The merge key `<<` takes a mapping, an alias of a mapping, or a list of those. A list of `KEY=value` strings cannot be merged: write it as a mapping (`KEY: value`) where it is anchored.',
  text: (p: { found: string }) => ({
    message: `\`<<\` merges mappings, and this is ${p.found}`,
    hint: p.found === 'a list' ? 'write the anchored list as a mapping' : undefined,
  }),
})
export const unknownTag = diagnostic({
  code: 'yaml/unknown-tag',
  severity: 'warning',
  explain:
    'Compose knows the tags `!reset` and `!override` and those of YAML itself (`!!str` and the like). Other tags mean nothing: they are ignored, and a single value with one is text.',
  text: (p: { tag: string }) => ({ message: `the tag \`${p.tag}\` is unknown and is ignored` }),
})
export const wrongTag = diagnostic({
  code: 'yaml/wrong-tag',
  severity: 'error',
  explain:
    'A tag of YAML itself (`!!int`, `!!float`, `!!bool`, `!!null`, `!!timestamp`) says what type a value has, and the value is not of that type. Remove the tag, or correct the value.',
  text: (p: { tag: string; text: string }) => ({
    message: `\`${p.text}\` is not what \`${p.tag}\` says`,
    hint: 'remove the tag',
  }),
})
export const version = diagnostic({
  code: 'yaml/version',
  severity: 'error',
  explain:
    'The directive `%YAML` says which version of YAML a file is written in. Docker Compose reads version 1.1 and refuses files that name another one. Remove the line: it changes nothing in how devctl reads the file.',
  text: (p: { version: string }) => ({
    message: `Compose files are not YAML ${p.version}`,
    hint: 'remove the line',
  }),
})
export const tooLarge = diagnostic({
  code: 'yaml/too-large',
  severity: 'error',
  explain:
    'The file is larger than any Compose file: more than 10 million characters, 100,000 nodes in a document, or far more nodes than that after its aliases are expanded. This protects against files made to exhaust memory.',
  text: (p: { what: string }) => ({ message: p.what }),
})
export const tooDeep = diagnostic({
  code: 'yaml/too-deep',
  severity: 'error',
  explain:
    'Mappings and lists are nested more than 500 levels deep. Nobody writes this by hand; the limit protects against files made to exhaust memory.',
  text: (_: Record<never, never>) => ({ message: 'nested more than 500 levels deep' }),
})
