import { execFileSync } from 'node:child_process'

/** Whether the program `sops` is installed here. */
export const hasSops: boolean = (() => {
  try {
    execFileSync('sops', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()
