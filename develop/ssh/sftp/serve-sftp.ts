import { randomBytes } from 'node:crypto'
import { posix } from 'node:path'
import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2'
import { OPEN_MODE, STATUS_CODE } from '../../../adapters/ssh/sftp-numbers.ts'
import type { FrontContainer } from '../container.ts'
import { parseAttributes, parseEntries, STAT_FORMAT } from './attributes.ts'
import { FileCommandFailed, FileCommands, quoted } from './file-commands.ts'
import { RemoteFile } from './remote-file.ts'

/** Maximum number of folder entries in one response. */
const ENTRIES = 100
/** Maximum number of bytes in one read response, as in OpenSSH's server. */
const LARGEST_READ = 256 * 1024

/**
 * Serves SFTP with programs in the container, so that the image needs no SFTP server. Errors are the messages that the
 * programs print.
 */
export function serveSftp(sftp: SFTPWrapper, container: FrontContainer): void {
  const closed = new AbortController()
  sftp.once('close', () => closed.abort(new Error('the client has gone'))).on('error', () => {})
  sftp.once('end', () => end(sftp))
  const commands = new FileCommands(container, closed.signal)
  const files = new Map<string, RemoteFile>()
  const folders = new Map<string, FileEntry[]>()
  let handles = 0
  const newHandle = () => String(++handles)
  const fileOf = (handle: Buffer) => {
    const found = files.get(String(handle))
    if (!found) throw new FileCommandFailed('the handle is not open')
    return found
  }
  /**
   * Sends the response to a request when `work` ends: calls the function that `work` resolves to, or reports success
   * without data if it resolves to undefined. Sends the error as the response if `work` rejects.
   */
  const answer = (id: number, work: Promise<(() => void) | undefined>) =>
    work.then(
      reply => (reply ? reply() : sftp.status(id, STATUS_CODE.OK)),
      error => {
        if (closed.signal.aborted) return
        const text = error instanceof Error ? error.message : String(error)
        sftp.status(id, codeOf(text), text)
      },
    )
  const run = (id: number, command: string) =>
    answer(
      id,
      commands.run(command).then(() => undefined),
    )
  const stat = async (id: number, path: string, follows: boolean) => {
    const option = follows ? '-L ' : ''
    const attributes = parseAttributes(await commands.run(`"$b" stat ${option}-c '${STAT_FORMAT}' -- ${quoted(path)}`))
    if (!attributes) throw new FileCommandFailed(`${path} cannot be read`)
    return () => sftp.attrs(id, attributes)
  }
  const setAttributes = async (path: string, attributes: Partial<Attributes>) => {
    const command = attributeCommands(quoted(path), attributes)
    if (command) await commands.run(command)
    return undefined
  }

  sftp.on('OPEN', (id, path, flags, attributes) => {
    const open = async () => {
      await commands.run(openCommand(quoted(path), flags, attributes.mode))
      const handle = newHandle()
      files.set(
        handle,
        new RemoteFile(container, await realPath(commands, path), (flags & OPEN_MODE.APPEND) !== 0, closed.signal),
      )
      return () => sftp.handle(id, Buffer.from(handle))
    }
    void answer(id, open())
  })
  sftp.on('READ', (id, handle, offset, length) => {
    const read = async () => {
      const bytes = await fileOf(handle).read(Number(offset), Math.min(length, LARGEST_READ))
      return () => (bytes.length === 0 ? sftp.status(id, STATUS_CODE.EOF) : sftp.data(id, bytes))
    }
    void answer(id, read())
  })
  sftp.on('WRITE', (id, handle, offset, bytes) => {
    // Copy the bytes, because ssh2 reuses its read buffer.
    const copy = Buffer.from(bytes)
    const write = async () => {
      await fileOf(handle).write(Number(offset), copy)
      return undefined
    }
    void answer(id, write())
  })
  sftp.on('CLOSE', (id, handle) => {
    const close = async () => {
      const name = String(handle)
      const file = files.get(name)
      files.delete(name)
      folders.delete(name)
      await file?.close()
      return undefined
    }
    void answer(id, close())
  })
  sftp.on('FSTAT', (id, handle) => {
    const inOrder = async () => {
      await fileOf(handle).settled()
      return stat(id, fileOf(handle).path, true)
    }
    void answer(id, inOrder())
  })
  sftp.on('FSETSTAT', (id, handle, attributes) => {
    const inOrder = async () => {
      await fileOf(handle).settled()
      return setAttributes(fileOf(handle).path, attributes)
    }
    void answer(id, inOrder())
  })
  sftp.on('OPENDIR', (id, path) => {
    const open = async () => {
      const entries = await listFolder(commands, path)
      const handle = newHandle()
      folders.set(handle, [...entries])
      return () => sftp.handle(id, Buffer.from(handle))
    }
    void answer(id, open())
  })
  sftp.on('READDIR', (id, handle) => {
    const entries = folders.get(String(handle))?.splice(0, ENTRIES) ?? []
    if (entries.length === 0) sftp.status(id, STATUS_CODE.EOF)
    else sftp.name(id, entries)
  })
  sftp.on('STAT', (id, path) => void answer(id, stat(id, path, true)))
  sftp.on('LSTAT', (id, path) => void answer(id, stat(id, path, false)))
  sftp.on('SETSTAT', (id, path, attributes) => void answer(id, setAttributes(path, attributes)))
  sftp.on('REMOVE', (id, path) => void run(id, `"$b" unlink ${quoted(path)}`))
  sftp.on('RMDIR', (id, path) => void run(id, `"$b" rmdir -- ${quoted(path)}`))
  sftp.on('MKDIR', (id, path, { mode }) => {
    const option = mode === undefined ? '' : `-m ${octal(mode)} `
    void run(id, `"$b" mkdir ${option}-- ${quoted(path)}`)
  })
  sftp.on('RENAME', (id, from, to) => void run(id, renameCommand(quoted(from), quoted(to))))
  sftp.on('SYMLINK', (id, path, target) => void run(id, `"$b" ln -s -- ${quoted(target)} ${quoted(path)}`))
  sftp.on('READLINK', (id, path) => {
    const read = async () => {
      const target = (await commands.run(`"$b" readlink -- ${quoted(path)}`)).replace(/\n$/, '')
      return () => sftp.name(id, [nameOf(target)])
    }
    void answer(id, read())
  })
  sftp.on('REALPATH', (id, path) => {
    const find = async () => {
      const found = await realPath(commands, path)
      return () => sftp.name(id, [nameOf(found)])
    }
    void answer(id, find())
  })
}

/** Closes the channel with exit status 0, which scp checks. ssh2 has no method for this. */
function end(sftp: SFTPWrapper): void {
  const { _protocol, outgoing } = sftp as unknown as SftpInternals
  if (outgoing.state === 'open') _protocol.exitStatus(outgoing.id, 0)
  sftp.end()
}

interface SftpInternals {
  readonly _protocol: { exitStatus(channel: number, status: number): void }
  readonly outgoing: { readonly id: number; readonly state: string }
}

/** Returns the absolute path with links resolved as far as the path exists. */
async function realPath(commands: FileCommands, path: string): Promise<string> {
  const found = await commands.run(`"$b" readlink -f -- ${quoted(path)}`).catch(() => '')
  if (found) return found.replace(/\n$/, '')
  return posix.resolve((await commands.run('"$b" pwd')).replace(/\n$/, ''), path)
}

async function listFolder(commands: FileCommands, path: string): Promise<readonly FileEntry[]> {
  const mark = randomBytes(8).toString('hex')
  // The trailing slash follows a link, and fails for a path that is not a folder.
  const folder = quoted(`${path.replace(/\/$/, '')}/`)
  const list = `"$b" find "$d" -mindepth 1 -maxdepth 1 -print0 | "$b" xargs -0 -r "$b" stat -c '${mark} ${STAT_FORMAT} %n'`
  return parseEntries(await commands.run(`d=${folder}; "$b" ls -d -- "$d" >/dev/null && { ${list}; :; }`), mark)
}

/** Returns the command that checks or creates a file before the first byte is read or written. */
function openCommand(path: string, flags: number, mode: number | undefined): string {
  const [reads, writes] = [flags & OPEN_MODE.READ, flags & OPEN_MODE.WRITE]
  const checks = [`if [ -d ${path} ]; then echo 'Is a directory'; false; fi`]
  if (!(flags & OPEN_MODE.CREAT)) checks.push(`"$b" stat -L -c %f -- ${path}`)
  if (flags & OPEN_MODE.EXCL) checks.push(`if [ -e ${path} ]; then echo 'File exists'; false; fi`)
  if (reads) checks.push(`if [ -e ${path} ]; then : <${path}; fi`)
  const create = flags & OPEN_MODE.TRUNC ? `: >${path}` : `: >>${path}`
  const permit = mode === undefined ? ':' : `"$b" chmod ${octal(mode)} ${path}`
  if (writes) checks.push(`if [ -e ${path} ]; then ${create}; else ${create} && ${permit}; fi`)
  // A subshell, because a failed redirection of `:` would end the shell.
  return `( ${checks.join(' && ')} )`
}

/** Returns the command that renames a file without replacing an existing one, as plain SFTP requires. */
const renameCommand = (from: string, to: string): string =>
  `if [ -e ${to} ] || [ -L ${to} ]; then echo 'File exists'; false; else "$b" mv -- ${from} ${to}; fi`

function attributeCommands(path: string, { size, uid, gid, mode, mtime }: Partial<Attributes>): string {
  const commands: string[] = []
  if (size !== undefined) commands.push(`"$b" truncate -s ${size} ${path}`)
  if (uid !== undefined && gid !== undefined) commands.push(`"$b" chown ${uid}:${gid} ${path}`)
  if (mode !== undefined) commands.push(`"$b" chmod ${octal(mode)} ${path}`)
  if (mtime !== undefined) commands.push(`"$b" touch -d @${Number(mtime)} ${path}`)
  return commands.join(' && ')
}

const octal = (mode: number): string => (mode & 0o7777).toString(8)

const nameOf = (filename: string): FileEntry => ({
  filename,
  longname: filename,
  attrs: { mode: 0, size: 0, uid: 0, gid: 0, atime: 0, mtime: 0 },
})

function codeOf(text: string): number {
  if (/no such file|not found|not a directory/i.test(text)) return STATUS_CODE.NO_SUCH_FILE
  return /permission|not permitted|read-only/i.test(text) ? STATUS_CODE.PERMISSION_DENIED : STATUS_CODE.FAILURE
}
