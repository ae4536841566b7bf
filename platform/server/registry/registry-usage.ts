import { lastLine } from '../../../environment/status/last-line.ts'
import { PLATFORM_NAMESPACE, REGISTRY_DISK } from '../../records/names.ts'
import type { ManagedNamespace } from '../../records/namespace.ts'
import {
  isFresh,
  LONGEST_MEASUREMENT,
  REGISTRY_SHARE,
  type RegistryDisk,
  readRegistryDisk,
  usedBy,
} from '../../rules/registry/registry-disk.ts'
import type { ServerContext } from '../context.ts'
import type { NamespaceIndex } from '../namespaces/namespace-index.ts'

/** Time in milliseconds for which a measurement is cached, and the timeout for reading it. */
const KEPT = 30_000
const PATIENCE = 5_000

const POD = { name: REGISTRY_DISK.pod, namespace: PLATFORM_NAMESPACE }
const OPTIONS = { container: REGISTRY_DISK.container, longest: LONGEST_MEASUREMENT }

/** The disk usage of images in the platform's own registry, and the check whether a user has used up their share. */
export class RegistryUsage {
  readonly #world: Pick<ServerContext, 'cluster' | 'settings' | 'now'>
  readonly #index: Pick<NamespaceIndex, 'isListed' | 'all'>
  #disk: RegistryDisk | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(
    world: Pick<ServerContext, 'cluster' | 'settings' | 'now'>,
    index: Pick<NamespaceIndex, 'isListed' | 'all'>,
  ) {
    this.#world = world
    this.#index = index
  }

  /**
   * Returns the last measurement; undefined if the platform has no registry of its own, or there is no recent
   * measurement.
   */
  async disk(): Promise<RegistryDisk | undefined> {
    const { settings, now } = this.#world
    if (settings.registry !== `images.${settings.domain}`) return undefined
    if (now() - this.#readAt > KEPT)
      this.#reading ??= this.#read().finally(() => {
        this.#readAt = now()
        this.#reading = undefined
      })
    await this.#reading
    return this.#disk && isFresh(this.#disk, now()) ? this.#disk : undefined
  }

  async #read(): Promise<void> {
    try {
      const line = await lastLine(this.#world.cluster, POD, { ...OPTIONS, signal: AbortSignal.timeout(PATIENCE) })
      this.#disk = readRegistryDisk(line) ?? this.#disk
    } catch {
      // Errors are ignored: a restarting registry, or missing permissions of an older installation, must not block
      // pushes.
    }
  }

  /**
   * Returns the usage and the limit of an owner's images in bytes if the usage exceeds the limit, so that pushes to the
   * owner's namespaces have to be refused. Returns undefined if the usage is within the limit or unknown.
   */
  async full({
    owner,
  }: Pick<ManagedNamespace, 'owner'>): Promise<{ readonly used: number; readonly most: number } | undefined> {
    const disk = await this.disk()
    if (!disk || !this.#index.isListed) return undefined
    const most = disk.size * (this.#world.settings.registryShare ?? REGISTRY_SHARE)
    const used = usedBy(owner, this.#index.all(), disk)
    return used > most ? { used, most } : undefined
  }
}
