import type { OperationEvent } from '../../../api/events.ts'
import { visibleText } from '../../../compiler/text/visible-text.ts'
import type { EmptiedFolder } from '../../../develop/control/messages.ts'
import type { DevelopEvent } from '../../../develop/events.ts'
import { lostFiles } from '../../../develop/session/event-log.ts'
import type { SyncStatus } from '../../../sync/session/sync-status.ts'
import { readableBytes } from '../readable-bytes.ts'

type OfDevelop<Type extends DevelopEvent['type']> = Extract<DevelopEvent, { readonly type: Type }>

/** Describes a problem with a file: its path and the reason. */
export const problemText = ({
  path,
  side,
  message,
}: Pick<OfDevelop<'sync-problem'>, 'path' | 'side' | 'message'>): string =>
  visibleText(`${path}${side === 'remote' ? ' in the container' : ''}: ${message}`)

/** Formats a number of files: `1 file`, `9,812 files`. */
const fileCount = (many: number): string => `${many.toLocaleString('en')} ${many === 1 ? 'file' : 'files'}`

/**
 * Returns the progress of the files: `12 of 9,812 files · 1 MB of 56 MB (18 MB sent)`, and the large file being
 * transferred; `9,812 files · 56 MB` at the end.
 */
export function filesText({ files, filesLeft, bytes, bytesLeft, sentBytes, current }: SyncStatus): string {
  // No transfer is in progress.
  if (filesLeft === 0) return `${fileCount(files)} · ${readableBytes(bytes)}`
  const count = (many: number) => many.toLocaleString('en')
  const large =
    current && `${visibleText(current.path)} ${Math.floor((100 * current.done) / Math.max(1, current.size))}%`
  return [
    `${count(files)} of ${fileCount(files + filesLeft)}`,
    `${readableBytes(bytes)}${bytesLeft > 0 ? ` of ${readableBytes(bytes + bytesLeft)}` : ''} (${readableBytes(sentBytes)} sent)`,
    ...(large === undefined ? [] : [large]),
  ].join(' · ')
}

/** Returns the status line of the files: `9,812 files · 56 MB · . ↔ /app`. */
export function syncLine({ status, folders }: OfDevelop<'sync'>): Extract<OperationEvent, { readonly type: 'status' }> {
  const { state, current } = status
  const parts = [
    filesText(status),
    ...(current ? [] : [folders.map(({ local, remote }) => `${local} ↔ ${remote}`).join(', ')]),
  ]
  return {
    type: 'status',
    service: 'Files',
    state: state === 'synced' ? 'ready' : 'waiting',
    text: state === 'disconnected' ? 'not connected' : state === 'scanning' ? 'reading the folders' : parts.join(' · '),
  }
}

/**
 * Returns the line for an event that concerns the files and that a user should see while working; undefined for any
 * other event.
 */
export function developNote(event: OperationEvent): string | undefined {
  switch (event.type) {
    case 'sync-problem':
      return problemText(event)
    case 'sync-conflict':
      return visibleText(`${event.path} was changed on both sides: yours is kept, the other is in ${event.kept}`)
    case 'sync-large':
      return visibleText(
        `${event.path} (${readableBytes(event.size)}) comes from the container; the line \`/${event.path}\` in .stignore keeps it there`,
      )
    case 'sync-tool-file':
      return visibleText(
        `the container has written ${event.shown}, which says what tools run on this machine: look at it before you use them`,
      )
    case 'sync-deleted':
      return visibleText(
        `the container has deleted ${fileCount(event.files)} of ${event.folder.local}, which are gone here, too: they are kept in ${event.kept}`,
      )
    case 'sync-continued':
      return `${event.folder.local} is synchronized again`
    case 'sync-room':
      return `all files of ${event.folder.local} have found room ${event.side === 'local' ? 'here' : 'in the container'}`
    default:
      return undefined
  }
}

/**
 * Returns the forwarded ports of a session as up to two steps: `Forward` for ports of this machine, `Reverse` for ports
 * of the container.
 */
export function forwardSteps({ forwards, reverse }: OfDevelop<'forwards'>) {
  const lines = (all: readonly (readonly [string, string])[]) => all.map(pair => pair.join(' → ')).join('   ')
  return [
    ...(forwards.length > 0 ? [['Forward', lines(forwards.map(one => [one.local, one.remote]))] as const] : []),
    ...(reverse.length > 0 ? [['Reverse', lines(reverse.map(one => [one.remote, one.local]))] as const] : []),
  ]
}

/** Describes a folder that has lost files: `all files of ./api are gone here`. */
export const emptiedText = ({ local, remote, side, loss }: EmptiedFolder): string =>
  `${lostFiles({ folder: { local, remote }, ...(loss && { loss }) })} are gone ${side === 'local' ? 'here' : 'in the container'}`

/**
 * Returns the hint for a folder that has lost files. The hint names the commands that restore the files, or delete them
 * on the other side, too.
 */
export const emptiedHint = (dev: string, { side }: Pick<EmptiedFolder, 'side'>): string =>
  `\`devctl status ${dev} --answer restore\` brings them back; \`devctl status ${dev} --answer delete\` deletes them ${side === 'local' ? 'in the container' : 'here'}, too`

/**
 * Describes a full disk as a warning: `the disk with /app in the container is full: 3 files of . (12.0 MB) are missing
 * there`.
 */
export function fullWarning({ folder, side, files, bytes }: OfDevelop<'sync-full'>) {
  const { local, remote } = folder
  const [disk, from] = side === 'local' ? [`${local} on this machine`, remote] : [`${remote} in the container`, local]
  const are = files === 1 ? 'is' : 'are'
  const text = `the disk with ${disk} is full: ${fileCount(files)} of ${from} (${readableBytes(bytes)}) ${are} missing there`
  const how = side === 'local' ? 'make room' : 'make room there, or raise `persistentVolume.size`'
  return {
    type: 'warning',
    text,
    hint: `${how}: the files follow by themselves; \`devctl status\` names them`,
  } as const
}

/** Returns `emptiedText` as a warning. */
export function emptiedWarning({ dev, folder, side, loss }: OfDevelop<'sync-stopped'>) {
  const other = side === 'local' ? 'in the container' : 'here'
  const text = `${emptiedText({ ...folder, side, ...(loss && { loss }) })}; nothing was deleted ${other}, and the folder is not synchronized`
  return { type: 'warning', text, hint: emptiedHint(dev, { side }) } as const
}
