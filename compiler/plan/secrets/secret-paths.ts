import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { didYouMean } from '../../diagnostics/suggest.ts'
import type { Span } from '../../text/source.ts'
import type { PlanContext } from '../context.ts'
import { guardedTexts } from './guarded-texts.ts'
import { variablePath } from './secret-sources.ts'
import { secretUses } from './secret-uses.ts'

const unknownPath = diagnostic({
  code: 'secrets/unknown-path',
  severity: 'error',
  explain: `An environment names a value that the Compose files do not have. A path consists of the keys in the Compose file, with the Compose names of services:

| path | value |
|---|---|
| \`services.SERVICE.environment.NAME\` | a variable, from \`environment\` or an env file |
| \`secrets.NAME\` | a top-level secret |

\`public\` also accepts other paths that a message names, such as \`configs.NAME\` and \`services.SERVICE.command\`. A variable whose env file does not exist must be listed in the Compose file: \`environment: [NAME]\`.`,
  text: (p: { path: string; message: string; hint: string | undefined }) => ({ message: p.message, hint: p.hint }),
})

/**
 * Checks the paths in an environment's `secrets.values` and `secrets.public` against the files. Call it after the
 * mounts are planned.
 */
export function checkSecretPaths(context: PlanContext): void {
  const { project, options, objects } = context
  const rules = options.secretRules
  if (!rules || (rules.values.size === 0 && rules.public.length === 0)) return
  const sources = new Set([...project.secrets.keys()].map(key => `secrets.${key}`))
  for (const { name, environment, secretEnvironment } of project.services.values())
    for (const variable of [...environment, ...secretEnvironment]) sources.add(variablePath(name, variable.name))
  const texts = new Set([...guardedTexts(context)].map(({ path }) => path))
  for (const { path } of objects.secrets.values()) if (path) texts.add(path)
  for (const { path } of secretUses(context)) texts.add(path)
  for (const key of project.configs.keys()) texts.add(`configs.${key}`)

  // A secret or config that seems to be missing may have been dropped because of an error.
  const { hasErrors } = context.reporter
  const report = (path: string, span: Span, known: ReadonlySet<string>) => {
    const isBroken = hasErrors && /^(?:secrets|configs)\./.test(path)
    if (known.has(path) || isBroken || isAbsent(context, path)) return
    const isOther = texts.has(path)
    context.reporter.report(unknownPath, span, {
      path,
      message: isOther ? `\`${path}\` cannot come from a Secret` : `the Compose files have no \`${path}\``,
      hint: isOther
        ? 'only variables (`services.SERVICE.environment.NAME`) and `secrets.NAME` can'
        : (didYouMean(path, known) ?? pathHint(context, path)),
    })
  }
  for (const [path, { span }] of rules.values) report(path, span, sources)
  const all = new Set([...sources, ...texts])
  for (const { value, span } of rules.public) report(value, span, all)
}

/**
 * Returns true for paths of a service that is inactive because of its profiles or that has errors. Such paths are not
 * checked.
 */
const isAbsent = ({ project }: PlanContext, path: string): boolean =>
  [...project.absentServices].some(name => path.startsWith(`services.${name}.`))

function pathHint({ project }: PlanContext, path: string): string {
  const [, service] = /^services\.(.+)\.environment\.[^.]+$/.exec(path) ?? []
  if (service !== undefined && project.services.has(service))
    return `name the variable in the Compose file: \`environment: [${path.slice(path.lastIndexOf('.') + 1)}]\``
  return 'write `services.SERVICE.environment.NAME` or `secrets.NAME`'
}
