import type { EntryVariable, FileMount, FileObject, Service } from '../../compose/project.ts'
import { usedEntries } from '../../compose/used-entries.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import { get } from '../../text/tree.ts'
import { shortHash } from '../../values/dns-name.ts'
import { type PlanContext, sortBy, sourceOf } from '../context.ts'
import { toAnnotations } from '../labels/annotations.ts'
import { distinctNames, slug, toDnsSubdomain } from '../object-names.ts'
import { userOf } from '../pod/image-user.ts'
import { type ConfigPair, type SecretPair, secretSource } from '../secrets/secret-sources.ts'
import { isApart } from '../secrets/values-apart.ts'
import { reportExternalName } from './claims.ts'
import { mostBytes, objectKey } from './host-files.ts'
import type { StoredMount } from './stored-mount.ts'

const owner = diagnostic({
  code: 'files/owner',
  severity: 'warning',
  loss: true,
  explain:
    'Kubernetes mounts configs and secrets as files owned by root. `uid` and `gid` cannot be set; with the default mode every user can read the files. If the user of the service is known and not root, they can read them with any mode: what `mode` permits their owner, it then permits everybody.',
  text: (p: { key: 'uid' | 'gid'; value: string; source: string }) => ({
    message: `\`${p.key}: ${p.value}\` of \`${p.source}\` has no equivalent: the file is owned by root`,
    hint: 'use `mode` instead, for example `mode: 0444`',
  }),
})

const tooLarge = diagnostic({
  code: 'files/too-large',
  severity: 'error',
  explain:
    'A ConfigMap or Secret can hold at most 1 MiB. Put larger files into the image, or into a volume that a Job fills.',
  text: (p: { what: string; name: string; bytes: number }) => ({
    message: `the ${p.what} \`${p.name}\` has ${p.bytes} bytes, more than the 1048576 that Kubernetes allows`,
    hint: 'put the file into the image',
  }),
})

const lineBreak = diagnostic({
  code: 'environment/line-break',
  severity: 'warning',
  explain: `A variable of \`x-secret-environment\` or \`x-config-environment\` has the whole content of its entry, and this content ends with a line break, as editors write it. A program that reads a password from the variable then uses a wrong one. Write the file without the line break: \`printf %s "$PASSWORD" > db_password.txt\`.`,
  text: (p: { name: string; entry: string }) => ({
    message: `the value of \`${p.name}\` ends with a line break, because the content of \`${p.entry}\` does`,
    hint: 'remove the line break from the content: `printf %s VALUE > FILE` writes none',
  }),
})

const keyOfEntry = diagnostic({
  code: 'environment/key-of-entry',
  severity: 'error',
  explain: `\`key\` of a variable of \`x-secret-environment\` or \`x-config-environment\` chooses one of several keys of an object that exists in the cluster, of an \`external\` entry. devctl itself creates objects with one key for the content of an entry. A key consists of letters, digits, \`-\`, \`_\` and \`.\`.

\`\`\`yaml
services:
  web:
    image: ghcr.io/acme/web:1.4.2
    x-secret-environment:
      PGPASSWORD: {source: db, key: password}
secrets:
  db: {external: true}
\`\`\``,
  text: (p: { key: string; entry: string; isExternal: boolean }) => ({
    message: p.isExternal
      ? `\`${p.key}\` cannot be a key of a Secret or ConfigMap`
      : `\`${p.entry}\` is not external, and has no key \`${p.key}\`: its content is one value`,
    hint: p.isExternal
      ? 'use letters, digits, `-`, `_` and `.`'
      : 'remove `key`; for an object that exists in the cluster, write `external: true`',
  }),
})

/** The mounts and variables of a service that come from configs and secrets, as stored in the cluster. */
export interface StoredFiles {
  mounts(service: Service): readonly StoredMount[]
  variables(service: Service): readonly (SecretPair | ConfigPair)[]
}

/**
 * Plans ConfigMaps and Secrets for the top-level configs and secrets that services use. A ConfigMap's name contains a
 * hash of its content, so that a change restarts the Pods. A Secret's name contains no hash, because weak values could
 * be guessed from it.
 */
export function planFiles(context: PlanContext): StoredFiles {
  // Secrets come first, so that their names do not depend on configs.
  const secrets = planObjects(context, 'secret')
  const configs = planObjects(context, 'config')
  return {
    mounts: service => [
      ...service.configs.flatMap(mount => toMount(context, 'config', { service, mount }, configs)),
      ...service.secrets.flatMap(mount => toMount(context, 'secret', { service, mount }, secrets)),
    ],
    variables: service => [
      ...service.variablesFromConfigs.flatMap(one => toVariable(context, 'config', one, configs)),
      ...service.variablesFromSecrets.flatMap(one => toVariable(context, 'secret', one, secrets)),
    ],
  }
}

/** An object in the cluster that holds a config or secret. */
interface Stored {
  readonly kind: 'configMap' | 'secret'
  readonly name: string
}

/** Plans the objects that hold the files, and returns them by Compose key. */
function planObjects(context: PlanContext, what: 'config' | 'secret'): ReadonlyMap<string, Stored> {
  const { project } = context
  const all = what === 'config' ? project.configs : project.secrets
  const used = new Set<string>()
  for (const service of project.services.values()) for (const key of usedEntries(service, `${what}s`)) used.add(key)
  const found = sortBy(
    [...all.values()].filter(({ key }) => used.has(key)),
    ({ key }) => key,
  )
  const own = distinctNames(
    found.filter(({ external }) => !external).map(({ key }) => key),
    key => toDnsSubdomain(key),
    200,
  )
  const stored = new Map<string, Stored>()
  const kind = what === 'config' ? 'configMap' : 'secret'
  for (const object of found) {
    const source = what === 'secret' ? secretSource(context, `secrets.${object.key}`) : undefined
    if (source) stored.set(object.key, { kind, name: source.name })
    else if (object.external) {
      const name = toDnsSubdomain(object.name?.value ?? object.key)
      reportExternalName(context, what, object, name)
      stored.set(object.key, { kind, name })
    } else {
      const base = `${context.environment.name}-${own.get(object.key)}`
      stored.set(object.key, planObject(context, what, object, base))
    }
  }
  return stored
}

/**
 * Returns true if the content of a config, from `content` or `environment`, contains a secret and has to come from a
 * Secret.
 */
function isConfigApart(context: PlanContext, { key }: FileObject, content: Uint8Array): boolean {
  const text = new TextDecoder().decode(content)
  return ['content', 'environment'].some(field => {
    const span = get(context.project.tree, 'configs', key, field)?.span
    return span && isApart(context, `configs.${key}`, span, text)
  })
}

/**
 * Plans the object of a config or secret. A config that contains a secret becomes a Secret, whose name differs from the
 * names of all secrets.
 */
function planObject(context: PlanContext, what: 'config' | 'secret', object: FileObject, base: string): Stored {
  const content = object.content ?? new Uint8Array()
  if (content.length > mostBytes)
    context.reporter.report(tooLarge, object.span, { what, name: object.key, bytes: content.length })
  const isSecret = what === 'secret' || isConfigApart(context, object, content)
  const name = what === 'secret' ? base : isSecret ? apartName(context, object, base) : `${base}-${shortHash(content)}`
  const plan = {
    name,
    source: sourceOf(context, object.span, [`${what}s`, object.key]),
    span: object.span,
    annotations: toAnnotations(context, object.labels),
    data: { [objectKey(object.key)]: content },
    path: `${what}s.${object.key}`,
  }
  if (isSecret) context.objects.secrets.set(name, plan)
  else context.objects.configMaps.set(name, plan)
  return { kind: isSecret ? 'secret' : 'configMap', name }
}

/** Returns the name of the Secret for a config. A secret with the key `app-config` may have the usual name already. */
function apartName({ objects }: PlanContext, { key }: FileObject, base: string): string {
  const name = `${base}-config`
  return objects.secrets.has(name) ? `${name}-${shortHash(key, 5)}` : name
}

/**
 * Returns the mode of a file. Compose makes configs and secrets readable for all users (0444); Kubernetes' own default
 * for both is 0644. The files belong to root, so for another user the owner's read and execute permissions are copied
 * to others.
 */
const modeOf = (mode: number, isRoot: boolean): number => (isRoot ? mode : mode | ((mode >> 6) & 0o5))

function toMount(
  context: PlanContext,
  what: 'config' | 'secret',
  { service, mount }: { readonly service: Service; readonly mount: FileMount },
  all: ReadonlyMap<string, Stored>,
): readonly StoredMount[] {
  const { reporter } = context
  const stored = all.get(mount.source)
  // The loader has already reported an entry that no file declares.
  if (stored === undefined) return []
  const isRoot = userOf(context, service) === undefined
  for (const key of ['uid', 'gid'] as const) {
    const value = mount[key]
    if (value !== undefined && value !== '0' && isRoot)
      reporter.report(owner, mount.span, { key, value, source: mount.source })
  }
  return [
    {
      target: mount.target,
      readOnly: true,
      span: mount.span,
      held: {
        kind: stored.kind,
        name: `${what}-${slug(mount.source) || shortHash(mount.source)}`,
        object: stored.name,
        subPath: keyIn(context, what, mount.source),
        mode: modeOf(mount.mode ?? 0o444, isRoot),
      },
    },
  ]
}

/**
 * Returns the key under which an object in the cluster holds the content of a config or secret. A rule of the
 * environment takes precedence over `chosen`.
 */
function keyIn(context: PlanContext, what: 'config' | 'secret', entry: string, chosen?: string): string {
  const source = what === 'secret' ? secretSource(context, `secrets.${entry}`) : undefined
  const declared = declaredEntry(context, what, entry)
  // The key in an external object is the name of the object.
  return source?.key ?? chosen ?? objectKey((declared?.external && declared.name?.value) || entry)
}

const declaredEntry = ({ project }: PlanContext, what: 'config' | 'secret', entry: string): FileObject | undefined =>
  (what === 'config' ? project.configs : project.secrets).get(entry)

function toVariable(
  context: PlanContext,
  what: 'config' | 'secret',
  { name, value: entry, span, key: nameSpan, objectKey: chosen }: EntryVariable,
  all: ReadonlyMap<string, Stored>,
): readonly (SecretPair | ConfigPair)[] {
  const stored = all.get(entry)
  // The loader has already reported an entry that no file declares.
  if (stored === undefined) return []
  if (declaredEntry(context, what, entry)?.content?.at(-1) === LINE_FEED)
    context.reporter.report(lineBreak, span, { name, entry: `${what}s.${entry}` })
  const isExternal = declaredEntry(context, what, entry)?.external === true
  if (chosen && (!isExternal || !/^[-._a-zA-Z0-9]+$/.test(chosen.value))) {
    const where = `${what}s.${entry}`
    context.reporter.report(keyOfEntry, chosen.span, { key: chosen.value, entry: where, isExternal })
  }
  const held = { name: stored.name, key: keyIn(context, what, entry, chosen?.value) }
  const pair = { name, span, ...(nameSpan && { key: nameSpan }) }
  return [stored.kind === 'secret' ? { ...pair, secret: held } : { ...pair, config: held }]
}

const LINE_FEED = 10
