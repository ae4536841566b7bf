import { visibleText } from '../../../compiler/text/visible-text.ts'
import type { SessionReport } from '../../../develop/control/messages.ts'
import { readableBytes } from '../readable-bytes.ts'
import { emptiedHint, emptiedText, problemText } from './event-text.ts'

/** Maximum number of problems, and of conflicts, that are listed. */
const MOST = 20

/**
 * Formats the states of sessions: the progress first, then the problems. `left` contains the development containers
 * without a session whose mirror (the workload that replaces the original) still runs.
 */
export function reportsText(
  reports: ReadonlyMap<string, SessionReport | undefined>,
  { withInfo, left }: { readonly withInfo: boolean; readonly left: ReadonlySet<string> },
): string {
  const [first] = reports.values()
  if (reports.size === 1 && first) return `${[...headOf(first), ...detailsOf(first, withInfo)].join('\n')}\n`
  const width = Math.max(...[...reports.keys()].map(dev => visibleText(dev).length))
  const lines = [...reports].flatMap(([dev, report]) => [
    `${visibleText(dev).padEnd(width)}  ${report ? `${percentOf(report).padStart(7)}  ${doing(report)}` : `      -  ${left.has(dev) ? 'its mirror runs, without `devctl up` on this machine' : 'not active'}`}`,
    ...(report ? detailsOf(report, withInfo) : []),
  ])
  return `${lines.join('\n')}\n`
}

function headOf(report: SessionReport): readonly string[] {
  const { dev, namespace, context } = report
  return [
    `Synchronization status: ${percentOf(report)}`,
    `  ${visibleText(`${dev} in ${namespace} @ ${context}`)}: ${doing(report)}`,
  ]
}

const percentOf = ({ sync }: SessionReport): string => `${(sync?.percent ?? 0).toFixed(2)}%`

/** Describes the current activity of a session: `syncing, 1,203 files left (12 MB)`. */
function doing({ state, text, sync, pod }: SessionReport): string {
  const left =
    sync && sync.filesLeft > 0
      ? `, ${sync.filesLeft.toLocaleString('en')} ${sync.filesLeft === 1 ? 'file' : 'files'} left (${readableBytes(sync.bytesLeft)})`
      : ''
  return `${state}${text && text !== pod ? `, ${visibleText(text)}` : ''}${left}`
}

function detailsOf(
  { dev, sync, pages, forwards = [], emptied = [] }: SessionReport,
  withInfo: boolean,
): readonly string[] {
  return [
    ...forwards.map(one => `  Forward ${visibleText(`${one.local} → ${one.remote}`)}`),
    ...emptied.flatMap(one => [`  stopped: ${visibleText(emptiedText(one))}`, `    = help: ${emptiedHint(dev, one)}`]),
    ...listed('problem', sync?.problems ?? [], problemText),
    ...listed('conflict', sync?.conflicts ?? [], one => `${one.path}: the other version is in ${one.kept}`),
    ...listed('folder that is not watched', sync?.unwatched ?? [], one => one),
    ...listed('left out', sync?.leftOut.paths ?? [], problemText, sync?.leftOut.count),
    ...(withInfo && pages
      ? [
          `  local:    ${pages.local}`,
          `  remote:   ${pages.remote}`,
          `  user:     ${pages.user}`,
          `  password: ${pages.password}`,
        ]
      : []),
  ]
}

function listed<One>(
  what: string,
  all: readonly One[],
  textOf: (one: One) => string,
  count = all.length,
): readonly string[] {
  const shown = all.slice(0, MOST).map(one => `  ${what}: ${visibleText(textOf(one))}`)
  return count > shown.length ? [...shown, `  … and ${count - shown.length} more`] : shown
}
