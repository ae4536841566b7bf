import { isDnsLabel, isDnsSubdomain } from '../../compiler/values/dns-name.ts'
import { parseDuration } from '../../compiler/values/numbers/duration.ts'
import { parseQuantity } from '../../compiler/values/numbers/quantity.ts'
import type { ServiceLabel } from './compose-labels.ts'

interface Rule {
  readonly isValid: (value: string) => boolean
  /** Kind of the values, for errors: `a duration`. */
  readonly kind: string
  readonly example: string
}

const isWhole = (value: string, minimum: number, maximum: number): boolean =>
  /^\d{1,10}$/.test(value) && Number(value) >= minimum && Number(value) <= maximum

const PORT: Rule = { isValid: value => isWhole(value, 1, 65_535), kind: 'a port', example: '8080' }
const DURATION: Rule = { isValid: value => parseDuration(value).ok, kind: 'a duration', example: '10s' }
const COUNT: Rule = { isValid: value => isWhole(value, 1, 2 ** 31 - 1), kind: 'a number from 1', example: '3' }
const NAME: Rule = { isValid: isDnsSubdomain, kind: 'a name of an object', example: 'shop-tls' }
const SHARE: Rule = {
  isValid: value => isWhole(value.replace(/%$/, ''), 1, 10_000) || parseQuantity(value).ok,
  kind: 'a part of the requests or a quantity',
  example: '70',
}

/** Rules for the values that can be converted, by the name of the label without `kompose.`. */
const RULES: Readonly<Record<string, Rule>> = {
  'volume.size': { isValid: value => parseQuantity(value).ok, kind: 'a size', example: '1Gi' },
  'volume.storage-class-name': NAME,
  'image-pull-policy': {
    isValid: value => /^(?:always|never|ifnotpresent)$/i.test(value),
    kind: 'a pull policy',
    example: 'IfNotPresent',
  },
  'security-context.fsgroup': { isValid: value => isWhole(value, 0, 2 ** 31 - 1), kind: 'a group', example: '1000' },
  'service.name_override': { isValid: isDnsLabel, kind: 'a name of a Service', example: 'web' },
  'service.nodeport.port': PORT,
  'service.expose': { isValid: isExpose, kind: '`true` or a host', example: 'shop.example.com/path' },
  'service.expose.tls-secret': NAME,
  'hpa.replicas.min': COUNT,
  'hpa.replicas.max': COUNT,
  'hpa.cpu': SHARE,
  'hpa.memory': SHARE,
}

/** Rules of the labels of a probe, by the last part of the name. */
const PROBE: Readonly<Record<string, Rule>> = {
  interval: DURATION,
  timeout: DURATION,
  start_period: DURATION,
  retries: COUNT,
  http_get_port: PORT,
  tcp_port: PORT,
  http_get_path: { isValid: value => /^\/\S*$/.test(value), kind: 'a path', example: '/health' },
  disable: { isValid: value => /^(?:true|false|)$/i.test(value), kind: '`true` or `false`', example: 'true' },
}

function isExpose(value: string): boolean {
  if (/^(?:true|false|)$/i.test(value)) return true
  return value
    .split(',')
    .every(address => /^\s*(?:\*\.)?([^/\s]+)(?:\/\S*)?\s*$/.test(address) && isDnsSubdomain(hostOf(address)))
}

const hostOf = (address: string): string => address.trim().replace(/\/.*$/s, '').replace(/^\*\./, '').toLowerCase()

/**
 * Returns the reason why a label's value cannot be carried over. Undefined if the value is valid, and for labels
 * without a rule.
 */
export function badKomposeValue({
  name,
  value,
}: ServiceLabel): { readonly why: string; readonly hint: string } | undefined {
  const own = /^kompose\.(.*)$/s.exec(name)?.[1] ?? ''
  const field = /^service\.healthcheck\.(?:liveness|readiness)\.(\w+)$/.exec(own)?.[1] ?? ''
  const rule = (Object.hasOwn(RULES, own) && RULES[own]) || (Object.hasOwn(PROBE, field) && PROBE[field])
  // A variable may have any value.
  if (!rule || value.includes('$') || rule.isValid(value)) return undefined
  return { why: `\`${value}\` is not ${rule.kind}`, hint: `write ${rule.kind}, such as \`${rule.example}\`` }
}
