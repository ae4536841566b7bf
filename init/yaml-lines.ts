/** Lines of YAML for human readers, with the reasons as comments. */
export type YamlLines = readonly string[]

/** Indents lines below a key. */
export const indented = (lines: YamlLines): YamlLines => lines.map(line => (line === '' ? '' : `  ${line}`))

export const comment = (text: string | undefined): YamlLines =>
  text === undefined ? [] : text.split('\n').map(line => `# ${line}`.trimEnd())

export const isTrue = (key: string, because?: string): YamlLines => [...comment(because), `${key}: true`]

/** Formats `key: value`, with the reason `because`, if given, as a comment above it. */
export const pair = (key: string, value: string, because?: string): YamlLines => [
  ...comment(because),
  `${key}: ${scalar(value)}`,
]

export const list = (key: string, items: YamlLines): YamlLines =>
  items.length === 0
    ? []
    : [`${key}:`, ...items.map(item => (item.startsWith('#') ? `  ${item}` : `  - ${scalar(item)}`))]

export const flowList = (items: readonly string[]): string =>
  `[${items.map(item => (/^[\w./-]+$/.test(item) ? scalar(item) : JSON.stringify(item))).join(', ')}]`

/** Formats a text as a plain scalar if it is parsed as the same text, otherwise in quotes. */
export function scalar(text: string): string {
  if (text === '.' || /^\d{3,5}:\d{3,5}$/.test(text)) return text
  const isPlain =
    /^[\w./][\w ./:@=&|,()+*~$'-]*$/.test(text) &&
    !/: | #|:$|\s$/.test(text) &&
    !/^(?:[\d.:eE+_-]+|true|false|null|yes|no|on|off|y|n|0[xo].*)$/i.test(text)
  return isPlain ? text : JSON.stringify(text)
}
