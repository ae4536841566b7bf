import { readFile } from '../../adapters/files/read-file.ts'

/** True for a file that begins as a Dockerfile does: with a directive, `FROM` or `ARG`. */
export function isDockerfile(path: string): boolean {
  const file = readFile(path)
  if (file.kind !== 'file') return false
  const text = new TextDecoder().decode(file.bytes.subarray(0, 1 << 16)).replace(/^\ufeff/, '')
  const lines = text.split(/\r?\n/).map(line => line.trim())
  const first = lines.find(line => line !== '' && !line.startsWith('#'))
  return first !== undefined && /^(from|arg)\s+[^:\s]/i.test(first)
}
