import { basename } from 'node:path'
import { readFile } from '../adapters/files/read-file.ts'

/** File names of Dockerfiles: `Dockerfile`, `web.Dockerfile`, `Dockerfile.web`, and the same with `Containerfile`. */
const NAME = /^(.+\.)?(docker|container)file(\..+)?$/i

/** Returns true if a file has the name of a Dockerfile, or if its first instruction is `FROM` or `ARG`. */
export function isDockerfile(path: string): boolean {
  if (NAME.test(basename(path))) return true
  const file = readFile(path)
  return file.kind === 'file' && /^(from|arg)\s+[^:\s]/i.test(firstInstruction(file.bytes) ?? '')
}

/** Returns the first line of a Dockerfile that is neither empty nor a comment; undefined if it has no such line. */
export function firstInstruction(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder().decode(bytes.subarray(0, 1 << 16)).replace(/^\ufeff/, '')
  const lines = text.split(/\r?\n/).map(line => line.trim())
  return lines.find(line => line !== '' && !line.startsWith('#'))
}
