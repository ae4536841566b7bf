import { UsageError } from '../../compiler/diagnostics/user-error.ts'

/** Maximum number of replicas that `scale` accepts, so that a typing error does not fill a cluster. */
const MOST = 1000

/**
 * Parses `SERVICE=NUMBER`. Throws a UsageError for anything else, and for two numbers of one service. `where` is the
 * command or option, for the message.
 */
export function parseScales(words: readonly string[], where: string): Readonly<Record<string, number>> {
  const found = new Map<string, number>()
  for (const word of words) {
    const [, service = '', number = ''] = /^([^=]+)=(\d{1,9})$/.exec(word) ?? []
    if (service === '')
      throw new UsageError(`\`${word}\` is not \`SERVICE=NUMBER\``, { hint: `write it as in \`${where} web=3\`` })
    if (found.has(service)) throw new UsageError(`\`${service}\` has two numbers`, { hint: 'remove one of them' })
    if (Number(number) > MOST)
      throw new UsageError(`\`${word}\` is more than ${MOST} replicas`, { hint: 'use a smaller number' })
    found.set(service, Number(number))
  }
  return Object.fromEntries(found)
}
