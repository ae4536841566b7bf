import { expect, test } from 'vitest'
import { Reporter } from '../../../../compiler/diagnostics/reporter.ts'
import { parseYaml } from '../../../../compiler/text/parse.ts'
import { SourceFile } from '../../../../compiler/text/source.ts'
import { entry } from '../../../../compiler/text/tree.ts'
import { KINDS } from '../../../../environment/status/failures.ts'
import { aboutGivenImages } from '../../../../operations/deploy/given-images.ts'
import { makeFolder } from '../../../support/cli/folder.ts'

const file = new SourceFile('compose.yaml', 'web:\n  image: nginx\napi: {image: a}\ndb:\n  image: postgres\n', '/a')
const services = parseYaml(file, new Reporter())![0]!.tree!

function failuresOf(...names: readonly string[]) {
  const reporter = new Reporter()
  const hint = 'check the name and tag of `image`; for a private registry, …'
  for (const service of names)
    reporter.report(KINDS['image-pull'], entry(services, service)!.key, { service, notes: ['pod/x: not found'], hint })
  reporter.report(KINDS.failed, entry(services, 'web')!.key, { service: 'web', notes: [] })
  return reporter.diagnostics()
}

test('an image of `--image` or `--images-file` that cannot be pulled names the option, and no line', async () => {
  const cwd = makeFolder({ 'images.json': '{"api": "example/none:1", "web": "example/other:1"}' })
  const image = new Map([['web', 'nginx:none']])
  const failures = failuresOf('web', 'api', 'db')
  const found = await aboutGivenImages(failures, services, { image, imagesFile: 'images.json' }, { cwd })
  expect(found.map(({ message, span, hint }) => [message, span && file.position(span.start).line, hint])).toEqual([
    ['`web` has failed', 1, '`devctl logs web` shows more'],
    [
      'the image of `web` cannot be pulled: `--image web=nginx:none` sets it',
      undefined,
      'check the name and tag in `--image web=nginx:none`; for a private registry, …',
    ],
    [
      'the image of `api` cannot be pulled: `--images-file images.json` sets it',
      undefined,
      'check the name and tag in `--images-file images.json`; for a private registry, …',
    ],
    ['the image of `db` cannot be pulled', 4, 'check the name and tag of `image`; for a private registry, …'],
  ])
  expect(await aboutGivenImages(failures, services, { image: undefined, imagesFile: undefined }, { cwd })).toEqual(
    failures,
  )
})
