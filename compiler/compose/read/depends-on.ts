import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { MapTree } from '../../text/tree.ts'
import type { Dependency, Link } from '../project.ts'
import type { ReadContext } from './context.ts'
import { entries, flag, scalars, text } from './tree-values.ts'

const badLink = diagnostic({
  code: 'links/bad-form',
  severity: 'error',
  explain: `A link is \`SERVICE\` or \`SERVICE:ALIAS\`. The alias is another host name for the linked service.

\`\`\`yaml
links:
  - db
  - db:database
\`\`\``,
  text: (p: { key: string; link: string }) => ({
    message: `\`${p.link}\` in \`${p.key}\` is not a valid link`,
    hint: p.key === 'links' ? 'write `SERVICE` or `SERVICE:ALIAS`' : 'write `NAME` or `NAME:ALIAS`',
  }),
})

const conditions: ReadonlySet<string> = new Set([
  'service_started',
  'service_healthy',
  'service_completed_successfully',
])
const isCondition = (word: string | undefined): word is Dependency['condition'] =>
  word !== undefined && conditions.has(word)

/** Reads `depends_on`. The loader has already checked that the services exist. */
export function readDependsOn(tree: MapTree, { service, implicitDependencies }: ReadContext): readonly Dependency[] {
  const found: Dependency[] = []
  for (const [name, { key, value }] of entries(tree, 'depends_on')) {
    const condition = text(value, 'condition')?.value
    found.push({
      service: name,
      condition: isCondition(condition) ? condition : 'service_started',
      required: flag(value, 'required')?.value ?? true,
      restart: flag(value, 'restart')?.value ?? false,
      implicit: implicitDependencies.has(`${service} ${name}`),
      span: key,
    })
  }
  return found
}

/** Reads `links` or `external_links`. Reports malformed items. */
export function readLinks(tree: MapTree, { reporter }: ReadContext, key: string): readonly Link[] {
  const found: Link[] = []
  for (const item of scalars(tree, key)) {
    const value = String(item.value)
    const [service = '', alias = service, ...rest] = value.split(':')
    if (service === '' || alias === '' || rest.length > 0) reporter.report(badLink, item.span, { key, link: value })
    else found.push({ service, alias, span: item.span })
  }
  return found
}
