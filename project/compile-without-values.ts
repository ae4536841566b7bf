import { type CompiledProject, compileFiles } from './compile-files.ts'

type Given = Parameters<typeof compileFiles>

/**
 * Compiles for a command that does not write the result. Variables that the files require need not be set
 * (`LoadOptions.assumesRequired`). If there are errors nevertheless, returns the result of another compilation without
 * this exception.
 */
export async function compileWithoutValues(
  io: Given[0],
  loading: Given[2],
  planning: Given[3],
  extra: NonNullable<Given[4]>,
): Promise<CompiledProject> {
  const compiled = await compileFiles(io, [], loading, planning, { ...extra, assumesRequired: 'all' })
  const isSound = compiled.diagnostics.every(({ severity, secret }) => severity !== 'error' || secret !== undefined)
  return isSound ? compiled : compileFiles(io, [], loading, planning, extra)
}
