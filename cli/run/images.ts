import type { Context } from '../command.ts'
import type { ImagesValues } from '../commands/images.ts'
import { listText } from '../terminal/print-list.ts'
import { printsDiagnostics } from '../terminal/report.ts'
import { toTable } from '../terminal/table.ts'
import { withProject } from './project-session.ts'

/** Prints the images of the named services, or of all deployed services, with their digests. */
export async function listImages(
  context: Context,
  services: readonly string[],
  options: ImagesValues,
): Promise<number> {
  return withProject(context, { ...options, var: undefined, timeout: undefined }, async (own, project, session) => {
    const { deployedImages } = await import('../../operations/list/images.ts')
    const world = { workspace: own.io, session, on: printsDiagnostics(own) }
    const rows = await deployedImages(world, { ...options, services }, project)
    const text = () =>
      toTable([
        ['Service', 'Container', 'Image', 'Digest'],
        ...rows.map(({ service, container, image, digests }) => [
          service,
          container,
          image.replace(/@sha256:.*$/, ''),
          digests.map(digest => digest.slice(0, 'sha256:'.length + 12)).join(', '),
        ]),
      ])
    const names = [...new Set(rows.map(({ image }) => image))]
    own.io.stdout.write(await listText(options.output, { records: rows, names, text }))
    return 0
  })
}
