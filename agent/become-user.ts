import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { AgentConfig } from './config.ts'

/**
 * Drops root privileges: files are written as the user of the development container, and no other permissions are
 * needed.
 */
export function becomeUser(config: AgentConfig): void {
  if (config.umask !== undefined) process.umask(config.umask)
  if (process.getuid?.() !== 0) return
  const user = config.user ?? userOfImage(join(dirname(config.ready), 'user'))
  if (!user || user.uid === 0) return
  for (const folder of ['.', '.devctl', ...config.folders.map(({ path }) => path)]) {
    const path = join(config.volume, folder)
    try {
      mkdirSync(path, { recursive: true })
      chownSync(path, user.uid, user.gid)
    } catch {
      // The volume may already belong to the user. Missing permissions are detected when it is used.
    }
  }
  process.setgroups!([user.gid])
  process.setgid!(user.gid)
  process.setuid!(user.uid)
}

/**
 * Reads the user of the image, which `id` printed as `1000:1000`. Returns undefined if the file does not exist or does
 * not match.
 */
function userOfImage(file: string): AgentConfig['user'] {
  if (!existsSync(file)) return undefined
  const [, uid, gid] = /^(\d+):(\d+)\s*$/.exec(readFileSync(file, 'utf8')) ?? []
  return uid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}
