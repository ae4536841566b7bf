import type { Service } from '../../compose/project.ts'
import { diagnostic } from '../../diagnostics/diagnostic.ts'
import type { PlanContext } from '../context.ts'
import { builtImage } from './built-image.ts'
import { configuredImage } from './configured-image.ts'
import { imageFacts } from './image-facts.ts'
import { toId } from './security.ts'

const notKnown = diagnostic({
  code: 'image/not-known',
  severity: 'info',
  explain: `Commands that only need files, such as \`render\`, are offline. They read the Dockerfile of a service with \`build\`, but not its base images, and nothing of other images. \`deploy\` also reads the configurations of the images that it builds.

Something in the manifests depends on what an image says:

- Another service waits with \`service_healthy\`, and no port or healthcheck of the service is known. The wait ends when a Pod is ready, which is when its container has started.
- With \`--policy restricted\`, a container that would run as root does not start, and the user of the image is not known.

\`\`\`yaml
services:
  api:
    build: .
    expose: ["8080"]    # or a healthcheck
    user: "1000"
\`\`\``,
  text: (p: { services: readonly string[]; of: 'health' | 'user' }) => {
    const one = p.services.length === 1
    const images = `the image${one ? '' : 's'} of ${p.services.map(name => `\`${name}\``).join(', ')}`
    return p.of === 'health'
      ? {
          message: `the ports (\`EXPOSE\`) and healthcheck of ${images} are not known here, and other services wait for ${one ? 'it' : 'them'}`,
          hint: 'list the ports with `expose`, or write a `healthcheck`',
        }
      : {
          message: `the user of ${images} is not known here, and \`--policy restricted\` does not allow root`,
          hint: 'set `user` to a number other than 0',
        }
  },
})

/**
 * Reports images about which an important fact is not known, with one diagnostic for each kind of fact: the
 * healthchecks of services without known ports that other services wait for, and under `--policy restricted` the users.
 * `portless` has the services without ports that are not Jobs.
 */
export function reportUnknownImages(
  context: PlanContext,
  services: readonly Service[],
  portless: readonly Service[],
): void {
  const { options, healthAwaited, reporter } = context
  const report = (of: 'health' | 'user', concerned: readonly Service[]) => {
    const unknown = concerned.filter(service => !isKnown(context, service))
    const [first] = unknown
    const span = (first?.build ?? first?.image)?.span
    if (span) reporter.report(notKnown, span, { of, services: unknown.map(({ name }) => name).sort() })
  }
  const awaited = portless.filter(({ name, healthcheck }) => healthAwaited.has(name) && !healthcheck)
  report(
    'health',
    awaited.filter(service => !imageFacts(context, service)?.healthcheck),
  )
  if (options.policy !== 'restricted') return
  report(
    'user',
    services.filter(service => !hasUser(context, service)),
  )
}

/**
 * Returns true if everything about an image is known, from its configuration or from a Dockerfile without a base image.
 */
const isKnown = (context: PlanContext, service: Service): boolean =>
  configuredImage(context, service) !== undefined || builtImage(context, service)?.base === 'scratch'

/** Returns true if the file or the Dockerfile sets the user to a number. */
function hasUser(context: PlanContext, service: Service): boolean {
  const user = service.user?.value ?? builtImage(context, service)?.user ?? ''
  return toId(user.split(':')[0]!) !== undefined
}
