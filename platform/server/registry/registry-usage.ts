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

/** Milliseconds for which a measurement is cached, and that reading it may take. */
const KEPT = 30_000
const PATIENCE = 5_000

const POD = { name: REGISTRY_DISK.pod, namespace: PLATFORM_NAMESPACE }
const OPTIONS = { container: REGISTRY_DISK.container, longest: LONGEST_MEASUREMENT }

/** The disk usage of images in the registry that comes with the platform, and who has used up their share. */
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

  /** Undefined if the platform has no registry of its own, or there is no recent measurement. */
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
      // A restarting registry, or missing rights of an older installation, must not block pushes.
    }
  }

  /** The size of the owner's images, if they have used up their share: pushes to their namespaces are refused. */
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
