import { lastLine } from '../../../operations/objects/last-line.ts'
import { PLATFORM_NAMESPACE, REGISTRY_DISK } from '../../records/names.ts'
import type { ManagedNamespace } from '../../records/namespace.ts'
import {
  isFresh,
  LONGEST_MEASUREMENT,
  REGISTRY_SHARE,
  type RegistryDisk,
  readRegistryDisk,
  usedBy,
} from '../../rules/registry-disk.ts'
import type { NamespaceIndex } from '../namespace-index.ts'
import type { PlatformWorld } from '../world.ts'

/** Milliseconds for which a measurement is not read again, and that reading it may take. */
const KEPT = 30_000
const PATIENCE = 5_000

const POD = { name: REGISTRY_DISK.pod, namespace: PLATFORM_NAMESPACE }
const OPTIONS = { container: REGISTRY_DISK.container, longest: LONGEST_MEASUREMENT }

/** What images take on the disk of the registry that comes with the platform, and who has used up their share. */
export class RegistryUsage {
  readonly #world: Pick<PlatformWorld, 'cluster' | 'settings' | 'now'>
  readonly #index: Pick<NamespaceIndex, 'isListed' | 'all'>
  #disk: RegistryDisk | undefined
  #readAt = Number.NEGATIVE_INFINITY
  #reading: Promise<void> | undefined

  constructor(
    world: Pick<PlatformWorld, 'cluster' | 'settings' | 'now'>,
    index: Pick<NamespaceIndex, 'isListed' | 'all'>,
  ) {
    this.#world = world
    this.#index = index
  }

  /** Undefined where the registry is another one, or was not measured lately. */
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
      // Nobody is kept from pushing by a registry that restarts, or by rights of an older install.
    }
  }

  /** What the images of its owner take, if they have used up their share: nothing more is pushed to their namespaces. */
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
