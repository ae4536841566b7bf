import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dockerfileStages } from '../../compiler/values/dockerfile/dockerfile.ts'
import { exampleCases, root } from '../support/cases.ts'
import { documentsOf } from '../support/documents.ts'
import { runCase } from '../support/run.ts'
import { expectFile } from '../support/written-file.ts'

const examples = exampleCases()

describe('examples', () => {
  test('the folder has eight examples or more', () => {
    expect(examples.length).toBeGreaterThanOrEqual(8)
  })

  for (const one of examples) {
    test(`${one.name} renders without errors or warnings`, async () => {
      const { status, stdout, stderr } = await runCase(one)
      expect(status, stderr).toBe(0)
      expect(stderr, 'diagnostics').not.toMatch(/^(error|warning)\[/m)
      expect(stdout + stderr, 'paths of this machine').not.toContain(root)
      const file = join(root, 'golden/examples', `${one.name.replaceAll('/', '-')}.yaml`)
      await expectFile(stdout, file)

      // The example uses images that the test cluster has.
      const images = documentsOf(stdout).flatMap(({ text }) =>
        [...text.matchAll(/^\s+(?:- )?image: (.+)$/gm)].map(m => m[1]!),
      )
      expect(images.length).toBeGreaterThan(0)
      for (const image of images) if (!image.startsWith(BUILT)) expect(known, image).toContain(image)
    })
  }

  test('examples are built from images of the test cluster or of their own services', () => {
    const files = readdirSync(join(root, 'examples'), { recursive: true, encoding: 'utf8' })
    for (const file of files.filter(path => basename(path) === 'Dockerfile')) {
      const text = readFileSync(join(root, 'examples', file), 'utf8')
      const stages = dockerfileStages(text) ?? []
      const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name!).filter(name => !stages.includes(name))
      for (const base of bases) expect([...known, 'api'], file).toContain(base)
    }
  })

  test('every example says at its top what it shows', () => {
    for (const { directory } of examples)
      expect(readFileSync(join(directory, 'compose.yaml'), 'utf8'), directory).toMatch(/^# .+\.\n/)
    expect(existsSync(join(root, 'examples/README.md'))).toBe(true)
  })
})

/** Prefix of the images of an example, as set in its options.yml. */
const BUILT = 'registry.example.com/team/'

const known = [
  ...['busybox:1.37', 'nginx:1.27-alpine', 'redis:7-alpine', 'redis:alpine', 'postgres:15-alpine', 'postgres:16'],
  ...['postgres:16-alpine', 'node:22-alpine', 'node:22-slim', 'python:3.12-slim', 'registry.k8s.io/kubectl:v1.34.2'],
]
