import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { checkTag } from '../../../scripts/release/version.mjs'
import { root } from '../../support/cases.ts'
import type { Step } from '../../support/channels/github-action.ts'
import { krewProblems } from '../../support/channels/krew.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const { version, repository, homepage, bugs } = JSON.parse(read('package.json'))

test('a tag has to be that of the version', () => {
  expect(() => checkTag(undefined, '0.1.0')).not.toThrow()
  expect(() => checkTag('v0.1.0', '0.1.0')).not.toThrow()
  for (const tag of ['v0.2.0', '0.1.0', '']) expect(() => checkTag(tag, '0.1.0')).toThrow(`the tag is ${tag}`)
})

test('the integrations install the version of package.json', () => {
  expect(parse(read('integrations/github/action.yml')).inputs.version.default).toBe(version)
  const [header] = parseAllDocuments(read('integrations/gitlab/templates/devctl.yml'))
  const image = `ghcr.io/devctl/devctl:${version}`
  expect(header!.toJS().spec.inputs.image.default).toBe(image)
  expect(read('.pre-commit-hooks.yaml').match(/ghcr\S+/g)).toEqual([image])
})

test('all files name one address of the project', () => {
  const address = 'https://github.com/devctl/devctl'
  expect([repository.url, homepage, bugs.url]).toEqual([`git+${address}.git`, `${address}#readme`, `${address}/issues`])
  for (const path of ['integrations/install.sh', 'integrations/github/action.yml', 'integrations/krew/devctl.yaml'])
    expect(new Set(read(path).match(/https:\/\/github\.com\/[\w-]+\/[\w-]+/g)), path).toEqual(new Set([address]))
})

test('the manifest of the kubectl plugin has what krew asks for', () => {
  const text = read('integrations/krew/devctl.yaml').replaceAll('VERSION', version)
  expect(krewProblems(parse(text.replace(/SHA256_\w+/g, 'a'.repeat(64))))).toEqual([])
  // The placeholder is no checksum.
  expect(krewProblems(parse(text))).toEqual(['sha256 of linux/amd64', 'sha256 of linux/arm64'])
})

describe('the workflow of releases', () => {
  const { on, permissions, jobs } = parse(read('.github/workflows/release.yml'))
  const steps = jobs.release.steps as readonly Step[]
  const lines = steps.flatMap(({ run = '' }) => run.split('\n').filter(Boolean))
  const at = (text: string) => lines.findIndex(line => line.includes(text))

  test('the workflow runs for tags only, and other workflows get no more rights than to read', () => {
    expect(on).toEqual({ push: { tags: ['v*'] } })
    expect(permissions).toEqual({ contents: 'read' })
    expect(jobs.release.permissions).toEqual({
      contents: 'write',
      packages: 'write',
      'id-token': 'write',
      attestations: 'write',
    })
  })

  test('the workflow makes all files, with the tag, before it publishes any', () => {
    expect(lines).toContain('npm run release -- --tag "$GITHUB_REF_NAME"')
    const order = ['npm ci', 'npm run release', 'devctl.cjs build', 'npm publish', 'gh release create'].map(at)
    expect(order).toEqual([...order].sort((a, b) => a - b))
    expect(order[0]).toBe(0)
    expect(lines[at('npm publish')]).toContain('--provenance')
  })

  test('the workflow attests where the files and the image come from', () => {
    const attested = steps.filter(({ uses = '' }) => uses.startsWith('actions/attest-build-provenance@'))
    expect(attested.map(step => step.with)).toEqual([
      { 'subject-path': 'dist/release/*' },
      expect.objectContaining({ 'subject-digest': '${{ steps.image.outputs.digest }}' }),
    ])
    expect(steps.map(({ id }) => id)).toContain('image')
  })

  test('the workflow puts no value of an event into a script', () => {
    expect(lines.filter(line => line.includes('${{'))).toEqual([])
  })
})
