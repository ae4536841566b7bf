import { resolve } from 'node:path/posix'
import type { Service } from '../../compose/project.ts'
import { mayRead } from '../../compose/read/storage/outside-files.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { needsValues } from '../../values/secrets/secret-backends.ts'
import { compareText, type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toDnsSubdomain } from '../object-names.ts'
import type { ExternalSecretPlan, Plan, RequiredSecret, SecretPlan } from '../plan.ts'
import { objectKey } from '../storage/host-files.ts'
import { isPublic, type Sourced, sourcedValues } from './secret-sources.ts'

const leftOut = diagnostic({
  code: 'secrets/left-out',
  severity: 'warning',
  explain: `The manifests mount a Secret that they do not contain, so that no secret is written to a file by accident. Create it in the cluster by other means, let \`devctl deploy\` apply it, or add it with \`--include-secrets\`.`,
  text: (p: { name: string }) => ({
    message: `the Secret \`${p.name}\` is left out of the manifests`,
    hint: 'add `--include-secrets`, or create it in the cluster',
  }),
})

const conflict = diagnostic({
  code: 'secrets/conflict',
  severity: 'error',
  explain: `Two values of an environment are mapped to the same key of the same Secret, but they differ: in their text, or in the source of the ExternalSecret. Give one of them another key.

\`\`\`yaml
secrets:
  values:
    services.db.environment.POSTGRES_PASSWORD: {secret: db, key: password}
    services.api.environment.API_TOKEN: {secret: db, key: token}
\`\`\``,
  text: (p: { path: string; other: string; secret: string; key: string; what: string }) => ({
    message: `\`${p.path}\` and \`${p.other}\` have different ${p.what}, but both are \`${p.key}\` of the Secret \`${p.secret}\``,
    hint: 'give one of them another key',
  }),
})

const noValue = diagnostic({
  code: 'secrets/no-value',
  severity: 'error',
  explain: `\`sealed\` and \`sops\` publish the value itself, encrypted for the cluster. This one is not set: not in the Compose files, their env files or the shell. Set it where devctl runs, or use another backend, which needs no values.`,
  text: (p: { path: string }) => ({
    message: `\`${p.path}\` has no value to encrypt`,
    hint: 'set it in the shell or in an env file, or use `backend: reference` or `external`',
  }),
})

/**
 * Checks in `publish` that the sealing certificate may be read, because a manifest from a repository could name someone
 * else's file.
 */
function checkCertificate({ options, project, host, reporter }: PlanContext): void {
  const { backend, certificate } = options.secretRules ?? {}
  if (!options.forRepository || backend !== 'sealed' || !certificate) return
  mayRead(host, resolve(project.directory, certificate.value), certificate.span, reporter)
}

/**
 * Applies the environment's backend to the planned Secrets: keeps them unchanged, omits and reports them, replaces them
 * with ExternalSecrets, or adds the values to encrypt.
 */
export function planSecretObjects(context: PlanContext): Pick<Plan, 'secrets' | 'externalSecrets' | 'requiredSecrets'> {
  const { objects, options } = context
  const backend = options.secretRules?.backend ?? 'reference'
  const sourced = sourcedValues(context)
  checkCertificate(context)
  if (needsValues(backend))
    addValues(
      context,
      sourced.filter(({ isExternal }) => !isExternal),
    )
  const made = sortBy(objects.secrets.values(), ({ name }) => name)
  const open = made.filter(({ path }) => isPublic(context, path ?? ''))
  const closed = made.filter(secret => !open.includes(secret))
  const externals = externalNames(context)
  if (backend === 'external') {
    const externalSecrets = planExternal(context, sourced, closed)
    return { secrets: open, externalSecrets, requiredSecrets: sorted(externals) }
  }
  const required = [
    ...externals,
    ...sourced.filter(({ isExternal }) => isExternal || backend === 'reference').map(toRequired),
  ]
  const isKept = options.includeSecrets || options.forRepository
  if (isKept) return { secrets: made, externalSecrets: [], requiredSecrets: sorted(required) }
  for (const { name, span } of closed) context.reporter.report(leftOut, span, { name })
  const missing = closed.flatMap(({ name, data, path = name }) =>
    Object.keys(data).map(key => ({ secret: name, key, usedBy: path })),
  )
  return { secrets: open, externalSecrets: [], requiredSecrets: sorted([...required, ...missing]) }
}

const toRequired = ({ path, source }: Sourced): RequiredSecret => ({
  secret: source.secret.value,
  key: source.key.value,
  usedBy: path,
  span: source.span,
})

const sorted = (required: readonly RequiredSecret[]): readonly RequiredSecret[] =>
  [...required].sort(
    (a, b) => compareText(a.secret, b.secret) || compareText(a.key, b.key) || compareText(a.usedBy, b.usedBy),
  )

/**
 * Returns the keys of the Secrets that the Compose files declare as external. Uses the same names and keys as files.ts,
 * which plans the mounts and variables of these Secrets.
 */
function externalNames(context: PlanContext): readonly RequiredSecret[] {
  const { project, options } = context
  const services = [...project.services.values()]
  return [...project.secrets.values()].flatMap(({ key: entry, external, name }) => {
    const path = `secrets.${entry}`
    if (!external || options.secretRules?.values.has(path)) return []
    const written = name?.value ?? entry
    const keys = new Set(services.flatMap(service => chosenKeys(service, entry)).map(key => key ?? objectKey(written)))
    return [...keys].map(key => ({ secret: toDnsSubdomain(written), key, usedBy: path }))
  })
}

/** Returns the key that each use of a secret by a service chooses; undefined for a use that chooses none. */
function chosenKeys({ secrets, variablesFromSecrets }: Service, entry: string): readonly (string | undefined)[] {
  const variables = variablesFromSecrets.filter(({ value }) => value === entry)
  const files = secrets.filter(({ source }) => source === entry)
  return [...files.map(() => undefined), ...variables.map(({ objectKey }) => objectKey?.value)]
}

/**
 * Plans the ExternalSecrets: for the Secrets that the environment's `secrets.values` name, and for Secrets whose data
 * the manifests would otherwise contain.
 */
function planExternal(
  context: PlanContext,
  sourced: readonly Sourced[],
  secrets: readonly SecretPlan[],
): readonly ExternalSecretPlan[] {
  const { options } = context
  const plans = new Map<string, Omit<ExternalSecretPlan, 'data'> & { readonly data: Map<string, Remote> }>()
  const rules = options.secretRules!
  const store = { name: rules.store?.value ?? '', kind: rules.storeKind }
  for (const secret of secrets) {
    const { data, path = secret.name, type: _, ...object } = secret
    const keys = Object.keys(data).map(key => [key, { key: secret.name, property: key, path }] as const)
    plans.set(secret.name, { ...object, store, data: new Map(keys) })
  }
  for (const { path, source } of sourced) {
    const { secret, key, remote, property, span } = source
    const name = secret.value
    const plan = plans.get(name) ?? { name, source: rulesSource(context, source), span, store, data: new Map() }
    plans.set(name, plan)
    const own: Remote = { key: remote?.value ?? name, property: property?.value ?? key.value, path }
    const other = plan.data.get(key.value)
    if (!other) plan.data.set(key.value, own)
    else if (other.key !== own.key || other.property !== own.property)
      report(context, { path, source }, other.path, 'sources in the store')
  }
  return sortBy(plans.values(), ({ name }) => name).map(({ data, ...plan }) => ({
    ...plan,
    data: sortBy(data, ([key]) => key).map(([secretKey, { key, property }]) => ({
      secretKey,
      remote: { key, property },
    })),
  }))
}

interface Remote {
  readonly key: string
  readonly property: string
  readonly path: string
}

/** Adds the values from the files to the Secrets that will be encrypted. */
function addValues(context: PlanContext, sourced: readonly Sourced[]): void {
  const { secrets } = context.objects
  const paths = new Map<string, string>()
  for (const one of sourced) {
    const { path, source, value } = one
    const name = source.secret.value
    const key = source.key.value
    // An unset variable results in an empty text.
    if (!value?.length) {
      context.reporter.report(noValue, source.span, { path })
      continue
    }
    const plan: SecretPlan = secrets.get(name) ?? {
      name,
      source: rulesSource(context, source),
      span: source.span,
      data: {},
    }
    const other = plan.data[key]
    if (other && Buffer.compare(other, value) !== 0)
      report(context, one, paths.get(`${name} ${key}`) ?? plan.path ?? name, 'values')
    else secrets.set(name, { ...plan, data: { ...plan.data, [key]: value } })
    paths.set(`${name} ${key}`, path)
  }
}

function report({ reporter }: PlanContext, { path, source }: Sourced, other: string, what: string): void {
  reporter.report(conflict, source.span, { path, other, secret: source.secret.value, key: source.key.value, what })
}

/**
 * Returns the source of an object that several values share: the section with the rules for the values,
 * `devctl.yml#environments.staging.secrets`.
 */
function rulesSource(context: PlanContext, { span }: Sourced['source']): string {
  const { manifestEnvironment } = context.options
  return sourceOf(
    context,
    span,
    manifestEnvironment === undefined ? ['secrets'] : ['environments', manifestEnvironment, 'secrets'],
  )
}
