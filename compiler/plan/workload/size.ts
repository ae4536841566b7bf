import { parseBytes } from '../../values/numbers/bytes.ts'
import { memoryQuantity, parseQuantity } from '../../values/numbers/quantity.ts'

/**
 * Converts a volume size to a Kubernetes quantity. Accepts a quantity (`2Gi`, `500M`) or a Compose size (`10g`,
 * `10GiB`). Returns undefined for other texts and for zero.
 */
export function parseVolumeSize(text: string): string | undefined {
  const size = text.trim()
  const quantity = parseQuantity(size)
  // A size below one byte is a wrong unit: `500m` is half a byte in Kubernetes, and 500 MiB in Compose.
  if (quantity.ok && !size.endsWith('m')) return quantity.value.milli >= 1000n ? quantity.value.canonical : undefined
  const bytes = parseBytes(size)
  return bytes.ok && bytes.value > 0n ? memoryQuantity(bytes.value) : undefined
}
