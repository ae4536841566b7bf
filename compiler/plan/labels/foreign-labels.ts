import type { Project } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { isCarriedOver } from './carried-over.ts'
import { type Family, families, type Said } from './foreign-families.ts'
import { type WrittenLabel, writtenLabels } from './written-labels.ts'

const foreign = diagnostic({
  code: 'labels/of-another-tool',
  severity: 'warning',
  explain: `The label configures another tool (kompose, Traefik, Okteto). devctl does not read it: it becomes an annotation. Each family of labels is reported once per file, with the equivalents in devctl; labels whose equivalents the file already has are not.

\`\`\`yaml
services:
  web:
    image: nginx
    labels:
      - traefik.http.routers.web.rule=Host(\`shop.example.com\`)
      - traefik.http.services.web.loadbalancer.server.port=80
endpoints:                        # the equivalent for devctl
  shop:
    - {path: /, service: web, port: 80, host: shop.example.com}
\`\`\``,
  text: (p: { tool: string; says: readonly string[]; left: number }) => ({
    message: `devctl does not read labels and keys of ${p.tool}`,
    hint: '`devctl migrate` writes the equivalents in the notes; remove the labels unless another tool reads them',
    notes: [...p.says, ...(p.left > 0 ? [`and ${p.left} more`] : [])],
  }),
})

/** Maximum number of labels of one family that a diagnostic lists. */
const MOST = 12

/**
 * Reports labels and extension keys that have a meaning in other tools, with their devctl equivalents, once for each
 * family and file.
 */
export function reportForeignLabels({ project, reporter }: Pick<PlanContext, 'project' | 'reporter'>): void {
  const found = new Map<string, { readonly family: Family; readonly said: Said[] }>()
  for (const said of saidBy(project))
    for (const family of families) {
      if (!family.prefix.test(said.name) || isCarriedOver(said, project)) continue
      const key = `${family.tool} ${said.span.file.path}`
      const known = found.get(key)
      if (known) known.said.push(said)
      else found.set(key, { family, said: [said] })
    }
  for (const { family, said } of found.values()) {
    const sorted = said.sort((a, b) => a.span.start - b.span.start)
    const says = [...new Set(sorted.flatMap(one => noteOf(family, one) ?? []))]
    if (says.length > 0)
      reporter.report(foreign, sorted[0]!.span, {
        tool: family.tool,
        says: says.slice(0, MOST),
        left: Math.max(0, says.length - MOST),
      })
  }
}

function noteOf({ meanings }: Family, said: Said): string | undefined {
  const meaning = meanings.find(({ label }) => label.test(said.name))
  if (!meaning) return `\`${said.name}\`: nothing here says the same`
  const write = typeof meaning.write === 'string' ? meaning.write : meaning.write(said)
  return write && `\`${said.name}\`: ${write}`
}

function saidBy(project: Project): readonly Said[] {
  const labels = writtenLabels(project).map(
    ({ name, value, span, key = span, service }: WrittenLabel): Said => ({
      name,
      value,
      span: key,
      ...(service !== undefined && { service }),
    }),
  )
  const keys = (project.foreignKeys ?? []).map(({ name, value, span }): Said => ({ name, value, span }))
  return [...labels, ...keys]
}
