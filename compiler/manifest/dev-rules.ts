import { resolve } from 'node:path/posix'
import { diagnostic } from '../diagnostics/diagnostic.ts'
import { formatPath, type ModelPath } from '../schema/model-path.ts'
import { type Entry, entry, get, isMap } from '../text/tree.ts'
import type { Development, Sync } from './development.ts'
import type { Reading } from './values.ts'

// Checks that involve several keys of a development container.

const noSync = diagnostic({
  code: 'manifest/no-sync',
  severity: 'error',
  explain: `A development container needs at least one synchronised folder. To use the host volumes of the Compose file, remove \`sync\`; otherwise list a folder:

\`\`\`yaml
dev:
  api:
    sync: [.:/app]
\`\`\``,
  text: (_: Record<never, never>) => ({ message: '`sync` has no folder', hint: 'add one, such as `.:/app`' }),
})
const outsideSync = diagnostic({
  code: 'manifest/outside-sync',
  severity: 'error',
  explain:
    'Additional containers share the files of the development container, so their folders must be folders of the main container, or below one. Add the folder to the main container too.',
  text: (p: { local: string }) => ({
    message: `\`${p.local}\` is not in a folder that the main container synchronises`,
    hint: 'add it, or a folder above it, to `sync` of the main container',
  }),
})
const needsVolume = diagnostic({
  code: 'manifest/needs-volume',
  severity: 'error',
  explain:
    'Without its claim (`persistentVolume.enabled: false`) a development container cannot keep or share files: `services`, `volumes` and nested synchronised folders need the claim.',
  text: (p: { what: string }) => ({
    message: `${p.what} need a claim, but \`persistentVolume\` is disabled`,
    hint: 'remove them, or `enabled: false`',
  }),
})
const rootUser = diagnostic({
  code: 'manifest/root-user',
  severity: 'error',
  explain:
    'With `runAsNonRoot` the cluster refuses to start a container as root, but `runAsUser: 0` is root. The container would never start.',
  text: (_: Record<never, never>) => ({
    message: '`runAsUser: 0` is root, which `runAsNonRoot` forbids',
    hint: 'choose another user, or remove `runAsNonRoot`',
  }),
})
const ignoredInHybrid = diagnostic({
  code: 'manifest/ignored-in-hybrid',
  severity: 'warning',
  explain:
    'With `mode: hybrid` the command runs on this machine, and the container in the cluster only forwards traffic to it. Keys that configure the container have no effect.',
  text: (p: { path: ModelPath; keys: readonly string[] }) => ({
    message: `${p.keys.map(key => `\`${key}\``).join(', ')} of \`${formatPath(p.path)}\` ${p.keys.length === 1 ? 'has' : 'have'} no effect with \`mode: hybrid\``,
    hint: 'remove them, or `mode: hybrid`',
  }),
})

const NOT_HYBRID = [
  ...['affinity', 'externalVolumes', 'image', 'imagePullPolicy', 'initContainer', 'lifecycle', 'nodeSelector'],
  ...[
    'persistentVolume',
    'secrets',
    'securityContext',
    'serviceAccount',
    'sshServerPort',
    'sync',
    'tolerations',
    'volumes',
  ],
]

/**
 * Checks rules that involve several keys of a development container. Diagnostics point to the container's entry in the
 * manifest.
 */
export function checkDevelopment(
  development: Development,
  { key, value }: Entry,
  { path, reading }: { readonly path: ModelPath; readonly reading: Reading },
): void {
  const { reporter } = reading
  if (development.mode === 'hybrid') {
    const keys = NOT_HYBRID.filter(name => entry(value, name))
    if (keys.length > 0) reporter.report(ignoredInHybrid, get(value, 'mode')?.span ?? key, { path, keys })
    return
  }
  checkSync(development, { key, value }, reading)
  checkVolume(development, { key, value }, reading)
  const { runAsUser, runAsNonRoot } = development.securityContext
  if (runAsUser?.value === 0 && runAsNonRoot?.value)
    reporter.report(rootUser, runAsUser.span, {}, [{ span: runAsNonRoot.span, message: 'forbidden here' }])
}

function checkSync(development: Development, { value }: Entry, { reporter, folder }: Reading): void {
  for (const { sync, at } of [
    { sync: development.sync, at: entry(value, 'sync') },
    ...development.services.map((service, index) => ({
      sync: service.sync,
      at: entry(itemsOf(value)[index], 'sync'),
    })),
  ]) {
    const list = isMap(at?.value) ? get(at.value, 'folders') : at?.value
    if (sync && at && list?.kind === 'seq' && list.items.length === 0) reporter.report(noSync, at.key, {})
  }
  const main = development.sync?.folders.map(({ local }) => pathOf(local, folder))
  if (!main?.length) return
  for (const { sync } of development.services)
    for (const { local, span } of sync?.folders ?? []) {
      const path = pathOf(local, folder)
      if (!main.some(above => isInside(path, above))) reporter.report(outsideSync, span, { local })
    }
}

function itemsOf(value: Entry['value']) {
  const services = get(value, 'services')
  return services?.kind === 'seq' ? services.items : []
}

function checkVolume(development: Development, { value }: Entry, { reporter, folder }: Reading): void {
  if (development.persistentVolume.enabled) return
  for (const field of ['services', 'volumes']) {
    const found = entry(value, field)
    if (found?.value.kind === 'seq' && found.value.items.length > 0)
      reporter.report(needsVolume, found.key, { what: `\`${field}\`` })
  }
  const nested = nestedFolder(development.sync, folder)
  if (nested) reporter.report(needsVolume, nested.span, { what: 'nested folders in `sync`' })
}

/** Returns a synchronized folder that is inside another synchronized folder. */
function nestedFolder(sync: Sync | undefined, folder: string) {
  const paths = (sync?.folders ?? []).map(one => ({ ...one, path: pathOf(one.local, folder) }))
  return paths.find(({ path }) => paths.some(other => other.path !== path && isInside(path, other.path)))
}

/** Returns an absolute path for comparisons. The home folder is unknown here, so its paths stay below `/~`. */
const pathOf = (local: string, folder: string): string => resolve(/^~(\/|$)/.test(local) ? '/' : folder, local)

const isInside = (path: string, folder: string) =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
