import { resolve } from 'node:path'
import { entries } from '../../compiler/compose/read/tree-values.ts'
import type { Diagnostic } from '../../compiler/diagnostics/diagnostic.ts'
import type { Span } from '../../compiler/text/source.ts'
import type { Tree } from '../../compiler/text/tree.ts'
import { KINDS } from '../../environment/status/failures.ts'
import type { Workspace } from '../../project/workspace.ts'
import type { DeployInput } from './input.ts'

/**
 * Adds the option that sets an image (`--image`, `--images-file`) to errors about images that cannot be pulled. Removes
 * the position from these errors, because the line of the Compose file contains another image.
 */
export async function aboutGivenImages(
  failures: readonly Diagnostic[],
  services: Tree | undefined,
  input: Pick<DeployInput, 'image' | 'imagesFile'>,
  { cwd }: Pick<Workspace, 'cwd'>,
): Promise<readonly Diagnostic[]> {
  const isPull = ({ code }: Diagnostic) => code === KINDS['image-pull'].code
  if (!failures.some(isPull)) return failures
  const options = await optionsOf(input, cwd)
  return failures.map(failure => {
    const option = isPull(failure) ? options.get(serviceAt(failure.span, services) ?? '') : undefined
    if (option === undefined) return failure
    const { span: _, hint, ...rest } = failure
    const advice = hint?.replace(/^check the name and tag of `image`/, `check the name and tag in ${option}`)
    return { ...rest, message: `${rest.message}: ${option} sets it`, ...(advice !== undefined && { hint: advice }) }
  })
}

/** Returns the options that set images, by service. `--image` overrides the file. */
async function optionsOf(
  { image, imagesFile }: Pick<DeployInput, 'image' | 'imagesFile'>,
  cwd: string,
): Promise<ReadonlyMap<string, string>> {
  const options = new Map<string, string>()
  if (imagesFile !== undefined) {
    const { readImagesFile } = await import('../../project/images-file.ts')
    const ofFile = readImagesFile(resolve(cwd, imagesFile), imagesFile)
    for (const service of ofFile.keys()) options.set(service, `\`--images-file ${imagesFile}\``)
  }
  for (const [service, reference] of image ?? []) options.set(service, `\`--image ${service}=${reference}\``)
  return options
}

/** Returns the name of the service whose lines contain a position; undefined if there is none. */
function serviceAt(span: Span | undefined, services: Tree | undefined): string | undefined {
  const isIn = ({ file, start }: Span, end: number) =>
    span !== undefined && file === span.file && start <= span.start && span.end <= end
  const found = [...entries(services)].find(([, { key, value }]) => isIn(key, Math.max(key.end, value.span.end)))
  return found?.[0]
}
