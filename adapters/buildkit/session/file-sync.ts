import { FileChanged } from '../files/changed.ts'
import type { SyncedFolder } from '../files/folder.ts'
import { type Packet, sendFiles } from '../files/send.ts'
import { CallError, NOT_FOUND } from './call-error.ts'
import type { IncomingCall } from './rpc-server.ts'

/** Handles a request for the files of a folder (`moby.filesync.v1.FileSync`). */
export async function syncFolder(
  call: IncomingCall<Packet, Packet>,
  folders: ReadonlyMap<string, SyncedFolder>,
  onChange: (change: FileChanged) => void = () => {},
): Promise<void> {
  const name = valuesOf(call, 'dir-name')?.[0] ?? ''
  const folder = folders.get(name)
  if (!folder) throw new CallError(NOT_FOUND, `the build has no folder ${name}`)
  const include = valuesOf(call, 'include-patterns')
  const exclude = valuesOf(call, 'exclude-patterns')
  const followPaths = valuesOf(call, 'followpaths')
  const selection = { ...(include && { include }), ...(exclude && { exclude }), ...(followPaths && { followPaths }) }
  try {
    await sendFiles(folder, selection, call)
  } catch (error) {
    // The builder forwards only the text of the error.
    if (error instanceof FileChanged) onChange(error)
    throw error
  }
}

/** Returns the values of a header, decoded if another header marks them as percent-encoded. */
function valuesOf(call: IncomingCall<Packet, Packet>, name: string): readonly string[] | undefined {
  const values = call.valuesOf(name)
  if (values.length === 0) return undefined
  const isEncoded = call.valuesOf(`${name}-encoded`).length > 0
  return isEncoded ? values.map(value => decodeURIComponent(value.replaceAll('+', ' '))) : values
}
