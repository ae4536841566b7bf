import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { configuredImage } from '../pod/configured-image.ts'
import { isInside } from './host-paths.ts'

const notKept = diagnostic({
  code: 'volumes/of-image',
  severity: 'warning',
  loss: true,
  explain: `The image declares a volume (\`VOLUME\` in its Dockerfile), and the service mounts nothing there. A container engine creates an anonymous volume, which Compose keeps when it replaces the container. Kubernetes ignores the declaration: the data is in the container and is lost when it is replaced.

\`\`\`yaml
services:
  db:
    image: postgres:17
    volumes:
      - data:/var/lib/postgresql/data
volumes:
  data:
\`\`\``,
  text: (p: { service: string; path: string }) => ({
    message: `the image of \`${p.service}\` has a volume at \`${p.path}\`, and nothing is mounted there: its data is not kept`,
    hint: `mount a volume: \`data:${p.path}\`, or, if the data need not be kept, list the path under \`tmpfs\``,
  }),
})

/** Reports volumes that a service's image is known to declare but that have no mount. */
export function checkImageVolumes(context: PlanContext, service: Service): void {
  const { mounts, tmpfs, volumesFrom } = service
  const paths = configuredImage(context, service)?.volumes ?? []
  // The mounts of the `volumes_from` services are mounted here, too.
  if (paths.length === 0 || volumesFrom.length > 0) return
  const targets = [...mounts, ...tmpfs].map(({ target }) => (typeof target === 'string' ? target : target.value))
  for (const path of paths)
    if (!targets.some(target => isInside(path, target)))
      context.reporter.report(notKept, (service.image ?? service.build)?.span, { service: service.name, path })
}
