import type { FromSchema, JSONSchema } from 'json-schema-to-ts'

/**
 * Schema of images by service: `{"web": "reference"}`, or the output of `docker buildx bake --metadata-file`, which
 * also has lists of warnings (https://docs.docker.com/reference/cli/docker/buildx/bake/#metadata-file).
 */
export const imagesFile = {
  type: 'object',
  additionalProperties: {
    type: ['string', 'object', 'array'],
    properties: { 'image.name': { type: 'string' }, 'containerimage.digest': { type: 'string' } },
  },
} as const satisfies JSONSchema

export type ImagesFile = FromSchema<typeof imagesFile>
/** Metadata that buildx writes for one image. */
export type BuildMetadata = Exclude<ImagesFile[string], string | readonly unknown[]>
