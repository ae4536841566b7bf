import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

/** Returns the absolute path of a program on the `PATH` of an environment; undefined if it is not found. */
export function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  const folders = (env['PATH'] ?? '').split(delimiter).filter(isAbsolute)
  const names = process.platform === 'win32' ? [`${name}.cmd`, `${name}.exe`] : [name]
  return folders.flatMap(folder => names.map(one => join(folder, one))).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
