import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../compiler/diagnostics/user-error.ts'
import { packageFolder } from '../../project/version.ts'
import type { PlatformImageName } from './manifests/images.ts'

/** A Dockerfile of the platform, which comes with the package. */
export interface OwnDockerfile {
  /** Absolute path. */
  readonly path: string
  /** Absolute path of the context: the folder of the package. */
  readonly context: string
  /** Base images, each with the build argument that replaces it. */
  readonly bases: readonly BaseImageArgument[]
}

export interface BaseImageArgument {
  readonly argument: string
  /** Full reference with a tag and a digest, such as `docker.io/library/node:22-alpine@sha256:…`. */
  readonly image: string
}

/** Reads the Dockerfile of an image. Throws a UserError in the single executable, which has none. */
export function ownDockerfile(name: PlatformImageName): OwnDockerfile {
  const context = packageFolder()
  if (context === undefined)
    throw new UserError('the single executable does not contain the images of the platform', {
      hint: 'use the package, `npm install --global devctl`, or name a registry that has the images: `--image-registry HOST/PATH`',
    })
  const path = join(context, 'platform/images', `${name}.Dockerfile`)
  const [head = ''] = readFileSync(path, 'utf8').split(/^FROM /m)
  const bases = [...head.matchAll(/^ARG (\w+)=(\S+)$/gm)].map(([, argument = '', image = '']) => ({ argument, image }))
  return { path, context, bases }
}
