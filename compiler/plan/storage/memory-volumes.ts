import type { Service, TmpfsMount } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { Span } from '../../text/source.ts'
import { memoryQuantity, parseQuantity } from '../../values/numbers/quantity.ts'
import type { PlanContext } from '../context.ts'
import { slug } from '../object-names.ts'
import { namespaceOwner } from '../workload/groups.ts'
import type { Held, StoredMount } from './stored-mount.ts'

const tmpfsOption = diagnostic({
  code: 'tmpfs/option',
  severity: 'warning',
  loss: true,
  explain:
    'A `tmpfs` becomes an `emptyDir` in memory, which supports a size limit only: its mode is 0777, and programs in it can be executed. Other options are left out.',
  text: (p: { target: string; options: string }) => ({
    message: `\`${p.options}\` of the tmpfs at \`${p.target}\` has no equivalent and is left out`,
  }),
})

const notShared = diagnostic({
  code: 'tmpfs/not-shared',
  severity: 'warning',
  explain: `A \`tmpfs\` is memory of one Pod: two services that name the same one get one each and do not see each other's files. Services in one Pod (\`network_mode: service:NAME\`) get one each, too. To share files, use a named volume.

\`\`\`yaml
volumes:
  - type: volume
    source: shared
    target: /shared
\`\`\``,
  text: (p: { name: string; services: readonly [string, string] }) => ({
    message: `the tmpfs \`${p.name}\` is not shared: \`${p.services[0]}\` and \`${p.services[1]}\` get one each`,
    hint: 'use a named volume for files that both need',
  }),
})

const overLimit = diagnostic({
  code: 'tmpfs/over-memory-limit',
  severity: 'warning',
  explain:
    'Data in a memory volume (`tmpfs`, `shm_size`) counts towards the memory limit of the container. Here the volumes may hold more than the limit, so the container is killed before they are full. Raise the limit, or make the volumes smaller.',
  text: (p: { service: string; size: string; limit: string }) => ({
    message: `the memory volumes of \`${p.service}\` can hold ${p.size}, more than its memory limit of ${p.limit}`,
    hint: 'raise the memory limit, or lower the sizes',
  }),
})

/** Default size of `/dev/shm` in an engine and in a Pod, in bytes. A request for less changes nothing. */
const usualShm = 64n * 1024n * 1024n

/** A mount of a named memory volume. */
interface NamedMemory {
  readonly name: string
  readonly service: string
  readonly span: Span
}

/**
 * Reports memory volumes that several services mount under the same name: mounts of type `tmpfs`, and volumes whose
 * driver type is `tmpfs`.
 */
export function checkShared({ project, reporter }: PlanContext, isMemory: (volume: string) => boolean): void {
  const first = new Map<string, NamedMemory>()
  const reported = new Set<string>()
  for (const use of namedMemory([...project.services.values()], isMemory)) {
    const other = first.get(use.name)
    if (!other) first.set(use.name, use)
    else if (other.service !== use.service && !reported.has(`${use.name} ${use.service}`)) {
      reported.add(`${use.name} ${use.service}`)
      reporter.report(notShared, use.span, { name: use.name, services: [other.service, use.service] }, [
        { span: other.span, message: 'and here' },
      ])
    }
  }
}

const namedMemory = (services: readonly Service[], isMemory: (volume: string) => boolean): readonly NamedMemory[] =>
  services.flatMap(({ name: service, mounts }) =>
    mounts.flatMap(mount => {
      if (mount.type === 'tmpfs' && mount.source)
        return [{ name: mount.source.value, service, span: mount.source.span }]
      if (mount.type !== 'volume' || mount.source === undefined || !isMemory(mount.source)) return []
      return [{ name: mount.source, service, span: mount.span }]
    }),
  )

/** Plans a mount of type `tmpfs`. */
export function planTmpfsMount({ reporter }: PlanContext, mount: TmpfsMount): StoredMount {
  const { size, mode, span, readOnly } = mount
  const target = mount.target.value
  // An emptyDir is writable for all users anyway, so such modes have no effect to lose.
  if (mode !== undefined && (mode & 0o777) !== 0o777)
    reporter.report(tmpfsOption, span, { target, options: `mode=${mode.toString(8)}` })
  return { target, readOnly, span, held: memory(slug(target) || 'root', size) }
}

/**
 * Plans the mounts for `tmpfs` and `shm_size`. Omits the mount for `shm_size` if `taken`, the paths of the other
 * mounts, contains `/dev/shm`, or if the size is not larger than the default.
 */
export function planMemoryMounts(
  { project, reporter }: PlanContext,
  service: Service,
  taken: ReadonlySet<string>,
): readonly StoredMount[] {
  const found = service.tmpfs.map(({ target, span, size, options }): StoredMount => {
    const lost = options.filter(option => !/^(ro|rw|mode=0?1?777|exec|suid|dev|defaults)$/.test(option))
    if (lost.length > 0) reporter.report(tmpfsOption, span, { target, options: lost.join(',') })
    return { target, readOnly: options.includes('ro'), span, held: memory(slug(target) || 'root', size) }
  })
  // Services with one IPC namespace have one `/dev/shm`, as large as its owner says.
  const { name: owner, shmSize } = namespaceOwner(project, service, 'ipc')
  if (!shmSize || shmSize.value <= usualShm || taken.has('/dev/shm')) return found
  const held = { ...memory('shm', shmSize.value), owner }
  return [...found, { target: '/dev/shm', readOnly: false, span: shmSize.span, held }]
}

const memory = (name: string, size: bigint | undefined): Extract<Held, { kind: 'memory' }> => ({
  kind: 'memory',
  name,
  ...(size && { sizeLimit: memoryQuantity(size) }),
})

/** Reports memory volumes whose total size may exceed the memory limit of their service. */
export function checkMemory({ reporter }: PlanContext, service: Service, mounts: readonly StoredMount[]): void {
  const limit = service.resources.limits.memory
  const volumes = mounts.filter(({ held }) => held.kind === 'memory' && held.sizeLimit !== undefined)
  const [first] = volumes
  if (!limit || !first) return
  const total = volumes.reduce((sum, { held }) => sum + (held.kind === 'memory' ? bytes(held.sizeLimit) : 0n), 0n)
  if (total <= bytes(limit.value)) return
  const related = [{ span: limit.span, message: 'the limit is here' }]
  const size = memoryQuantity(total)
  reporter.report(overLimit, first.span, { service: service.name, size, limit: limit.value }, related)
}

function bytes(quantity: string | undefined): bigint {
  const parsed = parseQuantity(quantity ?? '0')
  return parsed.ok ? parsed.value.milli / 1000n : 0n
}
