import type { Project } from '../../compose/project.ts'
import { map } from '../../compose/read/tree-values.ts'
import { diagnostic, type SecretFinding } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { get, type Tree } from '../../text/tree.ts'
import { KnownSecrets } from '../../values/secrets/known-secrets.ts'
import { looksSecretText, looksSecretVariable } from '../../values/secrets/secret-looks.ts'
import { isVariableWithSecret } from '../../values/secrets/secret-names.ts'
import { type SecretLook, secretShapes } from '../../values/secrets/secret-shapes.ts'
import { narrow, type PlanContext } from '../context.ts'
import type { Plan } from '../plan.ts'
import { findingOf, findingOfData, hintFor, hintForData, hintForUse, publicLines } from './guard-hints.ts'
import { type GuardedText, guardedTexts, guardedVariables } from './guarded-texts.ts'
import { isPublic } from './secret-sources.ts'
import { type SecretUse, shownUses } from './secret-uses.ts'

const looksSecret = diagnostic({
  code: 'secrets/looks-secret',
  severity: 'error',
  explain: `\`publish\` commits manifests to a git repository, where secrets must not end up: many people can read it, and its history keeps everything. It stops at a value that looks secret because of the name of its variable (\`DB_PASSWORD\`, \`API_KEY\`), its format (private keys, URLs with a password, tokens of known services), or because it is long and random. The value itself is never printed.

Let the variable come from a Secret in the cluster: under \`values\` it becomes a \`secretKeyRef\`, in \`render\`, \`deploy\` and \`publish\` alike. If the value only looks secret, list it under \`public\`.

\`\`\`yaml
environments:
  staging:
    secrets:
      values:
        services.db.environment.POSTGRES_PASSWORD: {secret: shop-db, key: password}
      public:
        - services.web.environment.TOKEN_KIND
\`\`\`

Move a secret in a command or a config to a variable or an entry of \`secrets\` first.`,
  text: (p: SecretFinding & { what: string; hint: string }) => ({
    message: `\`${p.path}\` contains ${p.what}, which would be committed to the repository`,
    hint: p.hint,
    secret: { path: p.path, ...(p.source && { source: p.source }) },
  }),
})

const secretOrigin = diagnostic({
  code: 'secrets/secret-origin',
  severity: 'error',
  explain: `A value is secret because of its source: a variable with a name such as \`DB_PASSWORD\`, \`--var\`, a variable of the platform, a variable or file of a \`secrets\` entry, or the variables in a value that \`secrets.values\` takes from a Secret, unless one of them has such a name. It stays secret wherever it is used: in a command, a healthcheck, a label, a config, a URL. \`publish\` never commits it to a repository.

Let a variable of the service come from a Secret (\`secretKeyRef\`), and let the program or a shell in the container read the variable. \`$$\` keeps the dollar sign for the shell:

\`\`\`yaml
services:
  db:
    environment: [MYSQL_ROOT_PASSWORD]
    command: ["sh", "-c", "exec app -p \\"$$MYSQL_ROOT_PASSWORD\\""]
\`\`\`

\`\`\`yaml
environments:
  staging:
    secrets:
      values:
        services.db.environment.MYSQL_ROOT_PASSWORD: {secret: shop-db, key: password}
\`\`\`

Turn a config that contains a secret into an entry of \`secrets\`. Kubernetes cannot take labels, addresses and names from a Secret: remove secrets from them.`,
  text: (p: SecretFinding & { origin: string; hint: string }) => ({
    message: `\`${p.path}\` contains the secret value of ${p.origin}, which would be committed to the repository`,
    hint: p.hint,
    secret: { path: p.path, ...(p.source && { source: p.source }) },
  }),
})

const plainText = diagnostic({
  code: 'secrets/plain-text',
  severity: 'warning',
  explain: `The manifests contain a value that is secret because of its source: a variable with a name such as \`DB_PASSWORD\`, a variable of the platform, or a variable or file of a \`secrets\` entry. Everybody who can read the manifests, or the objects in the cluster, can read it.

Let the variable come from a Secret, with \`secrets.values\` of an environment in devctl.yml, or make it an entry of \`secrets\`. \`--include-secrets\` allows secrets in the manifests.`,
  text: (p: { origin: string; paths: readonly string[] }) => ({
    message: `the manifests contain the secret value of ${p.origin}, in ${listOf(p.paths)}`,
    hint: 'take it from a Secret (`devctl explain secrets/secret-origin`), or add `--include-secrets`',
  }),
})

const shownToViewers = diagnostic({
  code: 'secrets/shown-to-viewers',
  severity: 'error',
  explain: `On a platform, everybody who may see a namespace sees its objects, but no values of variables: devctl puts values that contain a variable of the platform, a \`--var\`, or a variable whose name says that it is secret into Secrets. In variables, commands, healthchecks, hooks and configs that works by itself. Kubernetes cannot take labels, names, images, hosts and addresses from a Secret, so a variable whose name says that it is secret is refused there.

Remove it from there. If it is not secret, give it another name, or list the place under \`public\`:

\`\`\`yaml
environments:
  staging:
    secrets:
      public:
        - services.web.labels.build-key
\`\`\``,
  text: (p: { path: string; origin: string; hint: string }) => ({
    message: `\`${p.path}\` contains the secret value of ${p.origin}, which everybody who sees the namespace could read`,
    hint: p.hint,
  }),
})

/** Formats a list of paths for a message, such as `\`a\`, \`b\` and 3 more`. */
function listOf(paths: readonly string[]): string {
  const shown = paths.slice(0, 2).map(path => `\`${path}\``)
  return shown.join(', ') + (paths.length > 2 ? ` and ${paths.length - 2} more` : '')
}

const inAddress = diagnostic({
  code: 'secrets/in-address',
  severity: 'warning',
  explain: `\`x-endpoint\` of a model contains a password or a key. The services that use the model get the address as a variable, so everybody who can read the manifests, or the Pods in the cluster, can read it.

Let the variable come from a Secret that has the full address. \`--include-secrets\` allows secrets in the manifests.

\`\`\`yaml
environments:
  staging:
    secrets:
      values:
        services.web.environment.LLM_URL: {secret: shop-llm, key: url}
\`\`\``,
  text: (p: { model: string; what: string; hint: string }) => ({
    message: `the address of the model \`${p.model}\` contains ${p.what}, which the manifests show`,
    hint: p.hint,
  }),
})

const inRepository = diagnostic({
  code: 'secrets/in-repository',
  severity: 'error',
  explain: `The application mounts a Secret whose content comes from a file or a variable, and \`publish\` never commits the data of a Secret. Use a Secret that exists in the cluster, or another backend: \`external\` writes an ExternalSecret, \`sealed\` and \`sops\` encrypt the data.

\`\`\`yaml
environments:
  staging:
    secrets:
      values:
        secrets.token: {secret: shop-token, key: token}
\`\`\``,
  text: (p: SecretFinding & { name: string; hint: string }) => ({
    message: `the data of the Secret \`${p.name}\` would be committed to the repository`,
    hint: p.hint,
    secret: { path: p.path, ...(p.source && { source: p.source }) },
  }),
})

/**
 * Reports secrets, and texts that look like secrets, in manifests for a repository, with the lines that fix the
 * problem. In other manifests, reports at most secrets with a known origin and passwords in addresses of models. In all
 * cases, hides secrets and texts that look like secrets from the excerpts in diagnostics.
 */
export function guardSecrets(context: PlanContext, plan: Plan): void {
  const { reporter, project, options } = context
  const { secrets } = plan
  for (const span of project.secretPlaces.written()) reporter.hide(span)
  for (const { secretEnvironment } of project.services.values())
    for (const { name, span } of secretEnvironment) hide(context, name, span)
  const names = new Set([...project.services.keys(), ...project.absentServices])
  const isKnownName = (text: string) => names.has(text)
  if (!options.forRepository) {
    for (const service of project.services.values())
      for (const one of guardedVariables(service)) if (looks(one, isKnownName)) hideText(context, one)
    if (options.valuesApart) refuseShown(context, plan)
    else if (!options.includeSecrets) warnOfUses(context, plan)
    if (!options.includeSecrets) warnOfAddresses(context)
    return
  }
  const found = new Set<string>()
  const isNew = (path: string) => !isPublic(context, path) && !found.has(path) && Boolean(found.add(path))
  const refuse = (find: (one: GuardedText) => SecretLook | undefined) => {
    for (const one of guardedTexts(context)) {
      reporter.budget.checkTime()
      const look = find(one)
      if (!look) continue
      hideText(context, one)
      const { path } = one
      if (isNew(path))
        reporter.report(looksSecret, placeOf(one, look), {
          ...findingOf(context, one),
          what: look.what,
          hint: hintFor(context, one),
        })
    }
  }
  const uses = shownUses(context, plan)
  /**
   * Returns true if the text at this position comes from a secret with a known origin. A diagnostic that names the
   * origin is then reported instead.
   */
  const isUse = ({ path, text, name }: GuardedText, { start, end }: SecretLook) =>
    name === undefined && uses.some(use => use.path === path && use.text.includes(text.slice(start, end)))
  refuse(one => {
    const look = looks(one, isKnownName)
    return look && !isUse(one, look) ? look : undefined
  })
  for (const use of uses)
    if (isNew(use.path))
      reporter.report(secretOrigin, use.span, {
        ...findingOf(context, use),
        origin: use.origin,
        hint: hintForUse(context, use),
      })
  const known = knownIn(project)
  refuse(one => (found.has(one.path) ? undefined : holdsKnown(one, known)))
  if ((options.secretRules?.backend ?? 'reference') !== 'reference') return
  // If a secret's file could not be read, its data is empty, and the error about the file is the one to show.
  const filled = secrets.filter(({ data }) => Object.values(data).some(({ length }) => length > 0))
  for (const secret of filled)
    if (!isPublic(context, secret.path ?? ''))
      reporter.report(inRepository, secret.span, {
        ...findingOfData(secret),
        name: secret.name,
        hint: hintForData(context, secret),
      })
}

/**
 * Reports one warning for each secret that the manifests show, rather than one for each position, because there may be
 * many positions.
 */
function warnOfUses(context: PlanContext, plan: Plan): void {
  const byOrigin = new Map<string, SecretUse[]>()
  for (const use of shownUses(context, plan))
    if (!isPublic(context, use.path)) byOrigin.set(use.origin, [...(byOrigin.get(use.origin) ?? []), use])
  for (const [origin, uses] of byOrigin)
    context.reporter.report(plainText, uses[0]!.span, { origin, paths: uses.map(({ path }) => path) })
}

/**
 * Reports one warning for each model whose address contains a password that the file spells out. Does not report
 * passwords in other variables, because Compose files often contain the password of a development database.
 */
function warnOfAddresses(context: PlanContext): void {
  const { project, reporter } = context
  const models = [...(map(project.tree, 'models')?.entries ?? [])]
  const isAt = (model: Tree, span: Span) => {
    const endpoint = get(model, 'x-endpoint')?.span
    return endpoint?.file === span.file && endpoint.start === span.start
  }
  const told = new Set<string>()
  for (const service of project.services.values())
    for (const one of guardedVariables(service)) {
      const [model] = models.find(([, { value }]) => isAt(value, one.span)) ?? []
      // Other addresses are errors.
      const look =
        model === undefined || !/^https?:/i.test(one.text)
          ? undefined
          : secretShapes(one.text).find(({ isPart }) => isPart)
      if (model === undefined || !look || told.has(model) || isPublic(context, one.path)) continue
      const password = one.text.slice(look.start, look.end)
      if (!one.span.file.text.slice(one.span.start, one.span.end).includes(password)) continue // from a variable
      told.add(model)
      reporter.report(inAddress, placeOf(one, look), {
        model,
        what: look.what,
        hint: hintFor(context, one),
      })
    }
}

/**
 * Reports secrets that manifests would show because they cannot come from a Secret. Values that the user passed as
 * variables are allowed, unless the variable's name and value look like a secret.
 */
function refuseShown(context: PlanContext, plan: Plan): void {
  for (const { path, origin, text, span } of shownUses(context, plan)) {
    const [, name] = /^`([^`]+)`$/.exec(origin) ?? []
    if (isPublic(context, path) || (name !== undefined && !isVariableWithSecret(name, text))) continue
    const hint = `remove it; or, if it is not secret, list it in devctl.yml:\n${publicLines(context, path)}`
    context.reporter.report(shownToViewers, span, { path, origin, hint })
  }
}

/**
 * Returns the known secrets that cannot be mistaken for an ordinary word: secrets of at least 12 characters (`LONG`),
 * and secrets of at least 6 characters that are not all lower-case letters.
 */
function knownIn(project: Project): KnownSecrets {
  const values = [...project.secretPlaces.values]
  return new KnownSecrets(values.filter(value => value.length >= LONG || (value.length >= 6 && /[^a-z]/.test(value))))
}

/** Minimum length of a secret that an ordinary word does not contain by chance. */
const LONG = 12

function holdsKnown({ text }: GuardedText, known: KnownSecrets): SecretLook | undefined {
  const [found] = known.strictMasker.find(text)
  return found && { what: 'the value of a secret', ...found }
}

function looks({ name, text }: GuardedText, isKnownName: (text: string) => boolean): SecretLook | undefined {
  return name === undefined ? looksSecretText(text) : looksSecretVariable(name, text, isKnownName)
}

/**
 * Hides a text in all excerpts. If the text is a variable with a URL that contains a password, hides only the password.
 */
function hideText(context: PlanContext, one: GuardedText): void {
  if (!one.written) return
  const all = one.variable ? secretShapes(one.text) : []
  const shapes = all.every(({ isPart }) => isPart) ? all : []
  const places = shapes.map(look => exactPlace(one, look))
  // If the password also appears elsewhere in the text, for example as the user name, hiding it in one position is not
  // enough.
  const isElsewhere = shapes.some(({ start, end }) => one.text.split(one.text.slice(start, end)).length > 2)
  if (places.length === 0 || places.includes(undefined) || isElsewhere) hide(context, one.name, one.written)
  else for (const place of places) context.reporter.hide(place!)
}

/** Hides a value in all excerpts, unless the source contains only the name of a variable. */
function hide({ reporter }: PlanContext, name: string | undefined, span: Span): void {
  const written = bare(span)
  if (written === name || /^\$(?:\w+|\{\w+(?::?\?[^}]*)?\})$/.test(written)) return
  reporter.hide(span)
}

/** Returns the position of the secret, as exactly as possible. */
function placeOf(one: GuardedText, look: SecretLook): Span {
  const { text, span, written = span } = one
  const place = exactPlace(one, look) ?? narrow(written, text.slice(look.start, look.end))
  return place === written ? span : place
}

/**
 * Returns the position of a part of a text that is written in one piece and without escapes; undefined for other texts.
 */
function exactPlace({ text, written }: GuardedText, { start, end }: SecretLook): Span | undefined {
  if (!written || bare(written) !== text) return undefined
  const from = written.start + (written.end - written.start > text.length ? 1 : 0)
  return { file: written.file, start: from + start, end: from + end }
}

/** Returns the source text of a span, without surrounding quotes. */
const bare = ({ file, start, end }: Span): string => file.text.slice(start, end).replace(/^(["'])(.*)\1$/s, '$2')
