import { UsageError } from '../../compiler/diagnostics/user-error.ts'
import { command } from '../command.ts'
import { buildArguments, buildSecrets } from '../options/build.ts'
import { duration } from '../options/duration.ts'
import { choice, flag, list, type Option, text, type Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading, planning } from '../options/project.ts'
import { target } from '../options/target.ts'

/** `--no-cache`: the value is false if the option is given. */
const cache: Option<boolean> = {
  flags: '--no-cache',
  description: 'build everything again, without the cache',
}

const pushed = output('text', 'json', 'name')

/**
 * Parses the value of `--output`. Throws a UsageError for an exporter of `docker buildx build --output`, such as
 * `type=local`.
 */
const notExported: typeof pushed.parse = (value, previous) => {
  if (value.includes('='))
    throw new UsageError(`\`--output\` is \`${value}\``, {
      hint: 'images are pushed to a registry; `--push=false` only checks that they can be built',
    })
  return pushed.parse!(value, previous)
}

const options = {
  ...loading,
  name: planning.name,
  registry: planning.registry,
  context: target.context,
  tag: list(
    '-t, --tag <tag>',
    'tag of the images that `image:` does not name (default: a hash of the build inputs); for a Dockerfile, the whole name to push; may be repeated',
  ),
  push: choice('--push [bool]', '`--push=false` only checks that the images can be built', ['true', 'false'], 'true'),
  cache,
  pull: flag('--pull', 'look for newer base images, and build although the registry has the images'),
  buildArg: buildArguments,
  secret: buildSecrets,
  target: text('--target <stage>', 'build this stage of the Dockerfile'),
  platform: list('--platform <os/arch>', 'build for this platform; may be repeated'),
  cacheFrom: list('--cache-from <image>', 'import the cache from this image; may be repeated'),
  exportCache: text('--export-cache <image>', 'export the cache to this image; for one service, or a Dockerfile'),
  output: { ...pushed, parse: notExported },
  progress: choice('--progress <form>', 'how to show builds', ['auto', 'tty', 'plain', 'json'], 'auto'),
  metadataFile: text(
    '--metadata-file <path>',
    'write the images with their digests to this file (JSON), for `--images-file`',
    {
      completes: 'file',
    },
  ),
  timeout: duration('--timeout <duration>', 'overall timeout, such as 90s (default: $DEVCTL_TIMEOUT, or 30m)'),
}

/** Options of `build`. */
export type BuildValues = Values<typeof options>

export const build = command({
  name: 'build',
  group: 'Build',
  summary: 'Build and push the images of services',
  description: `Builds the images of the services with \`build\` and pushes them to the registry. The tag of an image is a hash of everything that the build reads, so an image that the registry has is not built again. An image that \`image:\` or --tag names is pushed with that tag, too.

Images that do not need each other are built at the same time. If a build fails, the others are finished, and all errors are reported at the end.

With -f and a Dockerfile, that is built, with the argument as its context (default: this folder), and pushed if --tag names it.

Uses the BuildKit of \`BUILDKIT_HOST\`, otherwise the builder of the context (\`devctl context use NAME --builder ADDRESS\`), otherwise the builders of the platform, if the context is one that has builders, otherwise the local Docker Engine. No other program is needed.`,
  words: [
    {
      name: '[service...]',
      description: 'only the images of these services (default: all); for a Dockerfile, its context',
      completes: 'service',
    },
  ],
  options,
  examples: [
    { line: 'devctl build --registry registry.example.com/team', does: 'build all images and push them' },
    {
      line: 'devctl build -f docker/Dockerfile --tag registry.example.com/team/tool:1',
      does: 'build and push a Dockerfile',
    },
    { line: 'devctl build web --no-cache', does: 'build one image again from the beginning' },
    {
      line: 'devctl build --metadata-file images.json && devctl publish --images-file images.json',
      does: 'publish the digests of a build',
    },
  ],
  async run(context, services, options) {
    const { buildImagesOf } = await import('../run/build.ts')
    return buildImagesOf(context, services, options)
  },
})
