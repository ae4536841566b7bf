/**
 * The labels that every object of a golden case has, and how `expected/` abbreviates them: `labels: <labels of web>`
 * are all that the objects of the service `web` share, `<labels of the application>` those of objects that belong to no
 * service, and `<pods of web>`, `<pods of the application>` are what selectors ask for. Beside other keys, `<<` has the
 * place of the standard ones. What is not exactly the rule is printed in full, and so are applications that are not
 * called as golden cases usually are.
 */

/** Name of the application in golden cases, unless they are about that name. */
export const USUAL_APPLICATION = 'app'

const APPLICATION = 'the application'

type Labels = Readonly<Record<string, string>>

/**
 * The labels of an object of the application, in the order of the manifests. Without a service those of the application
 * itself.
 */
export function standardLabels(application: string, service?: string): Labels {
  return {
    ...(service !== undefined && { 'app.kubernetes.io/instance': application }),
    'app.kubernetes.io/managed-by': 'devctl',
    ...(service !== undefined && { 'app.kubernetes.io/name': service }),
    'app.kubernetes.io/part-of': application,
    ...selectorLabels(application, service),
  }
}

/** The labels by which selectors find the Pods of a service, or of all services. */
export function selectorLabels(application: string, service?: string): Labels {
  return {
    'dev.platform/environment': application,
    ...(service !== undefined && { 'dev.platform/service': service }),
  }
}

/** The longest first: each begins with lines that are all of a later one. */
const ABBREVIATIONS = [
  { name: 'labels', rule: standardLabels, ofService: true },
  { name: 'labels', rule: standardLabels, ofService: false },
  { name: 'pods', rule: selectorLabels, ofService: true },
  { name: 'pods', rule: selectorLabels, ofService: false },
] as const

const SERVICE = 'SERVICE'

const linesOf = (labels: Labels) => Object.entries(labels).map(([key, value]) => `${key}: ${value}`)

const patterns = ABBREVIATIONS.map(({ name, rule, ofService }) => {
  const lines = linesOf(rule(USUAL_APPLICATION, ofService ? SERVICE : undefined))
  const [first, ...others] = lines.map(line => line.replace(/[./]/g, '\\$&'))
  const service = (text: string) => text.replace(SERVICE, '(?<service>.+)')
  // The first mention of the service is the group, the others have to be the same.
  const all = [`^(?<indent> *)${first}\n`, ...others.map(line => `\\k<indent>${line}\n`)].join('')
  const pattern = service(all).replaceAll(SERVICE, '\\k<service>')
  return { name, pattern: new RegExp(pattern, 'gm') }
})

/** A rendered manifest as `expected/` has it. */
export function abbreviateLabels(text: string): string {
  const marked = patterns.reduce(
    (rest, { name, pattern }) =>
      rest.replace(pattern, (...match) => {
        const { indent, service = APPLICATION } = match.at(-1) as { indent: string; service?: string }
        return `${indent}<<: <${name} of ${service}>\n`
      }),
    text,
  )
  // Put the abbreviation on the line of its key if the mapping has no other keys.
  return marked.replace(
    /^( *)((?:- )?)(\w+):\n\1( +)<<: (<(?:labels|pods) of .+>)\n(?!\1\4)/gm,
    (whole, indent: string, dash: string, key: string, deeper: string, abbreviation: string) =>
      deeper.length === dash.length + 2 ? `${indent}${dash}${key}: ${abbreviation}\n` : whole,
  )
}

/** The manifest that `abbreviateLabels` made a file of `expected/` of. */
export function expandLabels(text: string): string {
  return text.replace(
    /^( *)((?:- )?)(\w+|<<): <(labels|pods) of (.+)>\n/gm,
    (_, indent: string, dash: string, key: string, name: string, of: string) => {
      const rule = name === 'labels' ? standardLabels : selectorLabels
      const lines = linesOf(rule(USUAL_APPLICATION, of === APPLICATION ? undefined : of))
      if (key === '<<') return lines.map(line => `${indent}${line}\n`).join('')
      const deeper = `${indent}${' '.repeat(dash.length + 2)}`
      return `${indent}${dash}${key}:\n${lines.map(line => `${deeper}${line}\n`).join('')}`
    },
  )
}
