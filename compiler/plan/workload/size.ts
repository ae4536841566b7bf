import { parseBytes } from '../../values/numbers/bytes.ts'
import { memoryQuantity, parseQuantity } from '../../values/numbers/quantity.ts'

/**
 * The size of a volume as Kubernetes writes it: a quantity (`2Gi`, `500M`), or a size of Compose
 * (`10g`, `10GiB`). Undefined when it is neither, or nothing.
 */
export function parseVolumeSize(text: string): string | undefined {
  const size = text.trim()
  const quantity = parseQuantity(size)
  // Less than a byte is a slip of the unit: `500m` is half a byte to Kubernetes, and 500 MiB to
  // Compose.
  if (quantity.ok && !size.endsWith('m')) return quantity.value.milli >= 1000n ? quantity.value.canonical : undefined
  const bytes = parseBytes(size)
  return bytes.ok && bytes.value > 0n ? memoryQuantity(bytes.value) : undefined
}
