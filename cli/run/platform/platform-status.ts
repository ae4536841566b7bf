import { plural } from '../../../compiler/diagnostics/render/summary.ts'
import { UserError } from '../../../compiler/diagnostics/user-error.ts'
import { jsonText } from '../../../compiler/values/printable.ts'
import {
  BUNDLED_BUILDERS,
  isBuilders,
  isOfBuilders,
  type PlatformStatus,
  platformStatus,
  registryDiskText,
} from '../../../platform/install/checks/status.ts'
import type { Context } from '../../command.ts'
import type { PlatformStatusValues } from '../../commands/platform/platform.ts'
import { errorText } from '../../terminal/error-text.ts'
import { toTable } from '../../terminal/table.ts'
import { onCluster } from './platform.ts'

/** Prints the state of the platform. The exit status is 1 if there are problems. */
export function runStatus(context: Context, values: PlatformStatusValues): Promise<number> {
  const { io } = context
  return onCluster(context, values, async (_session, world) => {
    const found = await platformStatus({ ...world, env: io.env })
    if (values.output === 'json') io.stdout.write(`${jsonText(toRecord(found), 2)}\n`)
    else {
      io.stdout.write(toTable(rowsOf(found, world.now())))
      for (const { message, ...more } of found.problems) io.stderr.write(errorText(new UserError(message, more)))
    }
    return found.problems.length > 0 ? 1 : 0
  })
}

function toRecord({ certificate, ...found }: PlatformStatus) {
  if (!certificate) return found
  const { names, issuer, until, root, distrust } = certificate
  const authority = root && { name: root.name, fingerprint: root.fingerprint }
  return { ...found, certificate: { names, issuer, until: until.toISOString(), authority, distrust } }
}

function rowsOf(found: PlatformStatus, now: number): readonly (readonly [string, string])[] {
  const { url, version, leader, workloads, isReachable, certificate, login, users, namespaces, runs } = found
  const { builders, registry, dependencies } = found
  const days = certificate && Math.floor((certificate.until.getTime() - now) / 86_400_000)
  return [
    ['Platform', url],
    ['Version', version ?? '-'],
    ...workloads.map(
      ({ name, namespace, ready, wanted }) =>
        ['Replicas', `${ready} of ${wanted} ready: ${namespace} ${name}`] as const,
    ),
    ['Leader', leader ?? '-'],
    ['Reachable', isReachable ? 'yes' : 'no'],
    [
      'Certificate',
      certificate
        ? `${certificate.names.join(', ')}; by ${certificate.issuer}; ${days} days left (${certificate.until.toISOString().slice(0, 10)})`
        : '-',
    ],
    ...(certificate?.root && certificate.distrust !== undefined
      ? [['Authority', `${certificate.root.name}, SHA-256 ${certificate.root.fingerprint}`] as const]
      : []),
    ['Login', [...login, 'links'].join(', ')],
    ['Users', `${users.all}: ${plural(users.admins, 'administrator')}, ${users.suspended} suspended`],
    ['Namespaces', `${namespaces.all}: ${namespaces.awake} awake, ${namespaces.asleep} asleep`],
    ['Runs', `${runs.queued} queued, ${runs.running} running`],
    ...(dependencies.length > 0 ? [['Servers', serversText(dependencies)] as const] : []),
    ['Builders', buildersText(builders, workloads)],
    ['Registry', `${registry ?? '-'}${registryDiskText(found)}`],
    ['Networks', networksText(found.networks)],
  ]
}

/** Lists the other servers that the platform needs, each once, with the result of the last check. */
export function serversText(all: PlatformStatus['dependencies']): string {
  const words = { reached: '', failed: ' (failed)', unknown: ' (not checked yet)' }
  return [...new Set(all.map(({ address, state }) => `${new URL(address).host}${words[state]}`))].join(', ')
}

/** Describes the network test: the addresses that a test Pod reached, or the reason why the test did not run. */
function networksText(proof: PlatformStatus['networks']): string {
  if (proof.kind === 'unknown') return `not tried: ${proof.why}`
  return proof.reached.length === 0
    ? `a Pod reached none of ${proof.tried} addresses`
    : `a Pod reached ${proof.reached.join(', ')}`
}

/**
 * Describes the builders: one text for the builders that come with the platform, and the addresses of other builders.
 */
export function buildersText(addresses: readonly string[], workloads: PlatformStatus['workloads']): string {
  const own = BUNDLED_BUILDERS.flatMap(one => {
    const found = workloads.find(workload => isBuilders(workload, one))
    return found ? [{ one, found }] : []
  })
  const words = own.map(({ one, found: { ready, wanted, namespace } }) => {
    const used = addresses.some(address => isOfBuilders(address, one)) ? '' : ', not used'
    return `${ready} of ${wanted} ready in ${namespace}${one.of}${used}`
  })
  const others = addresses.filter(address => !own.some(({ one }) => isOfBuilders(address, one)))
  return [...words, ...others].join(', ') || '-'
}
