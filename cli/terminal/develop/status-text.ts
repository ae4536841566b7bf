import type { SessionReport } from '../../../operations/develop/control/messages.ts'
import { readableBytes } from '../readable-bytes.ts'
import { problemText } from './event-text.ts'

/** Problems and conflicts that are listed each. */
const MOST = 20

/** The state of a session for people: the percentage first, then what is in the way. */
export function statusText(report: SessionReport, withInfo: boolean): string {
  const { sync, state, text, dev, namespace, context } = report
  const lines = [
    `Synchronization status: ${(sync?.percent ?? 0).toFixed(2)}%`,
    `  ${dev} in ${namespace} @ ${context}: ${state}${text ? `, ${text}` : ''}`,
  ]
  if (sync && sync.filesLeft > 0)
    lines.push(`  ${sync.filesLeft.toLocaleString('en')} files left, ${readableBytes(sync.bytesLeft)}`)
  lines.push(...listed('problem', sync?.problems ?? [], problemText))
  lines.push(...listed('conflict', sync?.conflicts ?? [], one => `${one.path}: the other version is in ${one.kept}`))
  lines.push(...listed('folder that is not watched', sync?.unwatched ?? [], one => one))
  if (withInfo && report.pages) {
    const { local, remote, user, password } = report.pages
    lines.push(`  local:    ${local}`, `  remote:   ${remote}`, `  user:     ${user}`, `  password: ${password}`)
  }
  return `${lines.join('\n')}\n`
}

function listed<One>(what: string, all: readonly One[], textOf: (one: One) => string): readonly string[] {
  const shown = all.slice(0, MOST).map(one => `  ${what}: ${textOf(one)}`)
  return all.length > MOST ? [...shown, `  … and ${all.length - MOST} more`] : shown
}
