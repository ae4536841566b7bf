import { command } from '../command.ts'
import type { Values } from '../options/option.ts'
import { output } from '../options/output.ts'
import { loading } from '../options/project.ts'
import { environmentName, target } from '../options/target.ts'

const options = { ...loading, name: environmentName, ...target, output: output('text', 'json', 'name') }

/** Options of `images`. */
export type ImagesValues = Values<typeof options>

export const images = command({
  name: 'images',
  group: 'Deploy',
  isSecondary: true,
  summary: 'List the images of deployed services',
  description: `Lists the containers of the deployed services with their images, and the digests that their Pods run: several during a rollout, none while no Pod runs. \`devctl config --images\` lists the images of the files.`,
  words: [{ name: '[service...]', description: 'only these services (default: all)', completes: 'service' }],
  options,
  examples: [{ line: 'devctl images web', does: 'show the image and the digest that `web` runs' }],
  async run(context, services, options) {
    const { listImages } = await import('../run/images.ts')
    return listImages(context, services, options)
  },
})
