import type { Generated } from '../../support/differential/generate.ts'

/**
 * Takes lines, files and options away from a project for as long as it still differs; for the message of a failed test.
 * Tries at most 400 times.
 */
export async function minimise(
  project: Generated,
  differs: (smaller: Generated) => Promise<boolean>,
): Promise<Generated> {
  let best = project
  let left = 400
  const attempt = async (smaller: Generated) => {
    if (left-- <= 0 || !(await differs(smaller))) return false
    best = smaller
    return true
  }
  for (const profile of project.profiles)
    await attempt({ ...best, profiles: best.profiles.filter(one => one !== profile) })
  for (const path of Object.keys(project.files)) {
    const { [path]: _, ...others } = best.files
    await attempt({ ...best, files: others, load: best.load.filter(one => one !== path) })
  }
  for (const path of Object.keys(best.files)) {
    for (let size = 16; size >= 1; size = Math.floor(size / 2)) {
      for (let at = 0; at < linesOf(best, path).length; ) {
        const lines = linesOf(best, path)
        const text = [...lines.slice(0, at), ...lines.slice(at + size)].join('\n')
        if (!(await attempt({ ...best, files: { ...best.files, [path]: text } }))) at += size
      }
    }
  }
  return best
}

const linesOf = (project: Generated, path: string) => (project.files[path] ?? '').split('\n')

/** A project as text, to read and to copy. */
export function describeProject({ files, load, profiles, env }: Generated): string {
  const used = Object.entries(files).filter(([path]) => !['.env', 'one.env', 'two.env', 'raw.env'].includes(path))
  return [
    `load: ${load.join(' ') || 'discovery'}; profiles: ${profiles.join(' ') || 'none'}; environment: ${JSON.stringify(env)}`,
    ...used.map(([path, text]) => `--- ${path}\n${text}`),
  ].join('\n')
}
