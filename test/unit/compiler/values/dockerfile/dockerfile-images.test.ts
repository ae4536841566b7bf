import { describe, expect, test } from 'vitest'
import { imagesOfDockerfile } from '../../../../../compiler/values/dockerfile/dockerfile-images.ts'
import { familiarName } from '../../../../../compiler/values/images/image-reference.ts'

const images = (text: string, target?: string, args: Readonly<Record<string, string>> = {}) =>
  imagesOfDockerfile(text, target, new Map(Object.entries(args)))

describe('images that a Dockerfile names', () => {
  test.each<[string, readonly string[]]>([
    ['FROM base:1', ['base:1']],
    ['from --platform=$BUILDPLATFORM base:1 as x\nFROM x', ['base:1']],
    ['ARG BASE=base\nARG TAG\nFROM ${BASE}:${TAG:-2}', ['base:2']],
    ['ARG BASE\nFROM $BASE', []],
    ['FROM scratch\nCOPY --chown=1:1 --from=files:1 /a /b', ['files:1']],
    ['FROM scratch\nCOPY --from=files:1 ["/a b", "/c"]', ['files:1']],
    [
      'FROM a\nRUN --mount=type=bind,from=tools:1,target=/t \\\n  --mount=type=cache,target=/c /t/run',
      ['a', 'tools:1'],
    ],
    ['FROM a\nRUN --mount=from=tools,target=/t make', ['a', 'tools']],
    ['FROM a\nRUN echo --mount=from=b', ['a']],
    ['FROM a AS Build\nFROM scratch\nCOPY --from=build /a /\nCOPY --from=0 /b /', ['a']],
    ['FROM a\nCOPY --from=1 / /', ['a', '1']],
    ['FROM a AS unused\nFROM b', ['b']],
    // A stage is known after its FROM.
    ['FROM later AS x\nFROM x AS later', ['later']],
    ['FROM a\nRUN <<EOF\nFROM b\nEOF', ['a']],
    ['# syntax=docker/dockerfile:1\nFROM a', ['a']],
    ['# syntax=example.com/other\nFROM a', []],
    ['# check=skip=all\r\n # escape=`\n# syntax=example.com/other\nFROM a', []],
    ['# a comment\n# syntax=example.com/other\nFROM a', ['a']],
    ['', []],
  ])('the images of %j are found', (text, expected) => expect([...images(text)].sort()).toEqual([...expected].sort()))

  test('the images are those that the target needs', () => {
    const text = 'FROM a AS one\nFROM b AS two\nFROM one\nCOPY --from=two / /'
    expect(images(text, 'TWO')).toEqual(['b'])
    expect(images(text, '0')).toEqual(['a'])
    expect(images(text, 'missing')).toEqual([])
    expect([...images(text)].sort()).toEqual(['a', 'b'])
  })

  test('arguments of the build apply to FROM alone', () => {
    expect(images('ARG BASE=x\nFROM $BASE', undefined, { BASE: 'y' })).toEqual(['y'])
    expect(images('FROM $BASE', undefined, { BASE: 'y' })).toEqual([])
    expect(images('ARG A=x\nFROM a\nCOPY --from=$A / /')).toEqual(['a'])
  })

  test('arguments of the platform apply without `ARG`, unless the build has others', () => {
    const predefined = new Map([['TARGETARCH', 'arm64']])
    const found = (text: string, args = {}) =>
      imagesOfDockerfile(text, undefined, new Map(Object.entries(args)), predefined)
    expect(found('FROM base-$TARGETARCH')).toEqual(['base-arm64'])
    expect(found('ARG TARGETARCH\nFROM base-$TARGETARCH')).toEqual(['base-arm64'])
    expect(found('ARG NAME=base-${TARGETARCH}\nFROM $NAME')).toEqual(['base-arm64'])
    expect(found('FROM base-$TARGETARCH', { TARGETARCH: 'amd64' })).toEqual(['base-amd64'])
    expect(images('FROM base-$TARGETARCH')).toEqual([])
  })
})

test.each([
  ['base', 'base'],
  ['base:latest', 'base'],
  ['docker.io/library/base:1', 'base:1'],
  ['library/base', 'base'],
  ['index.docker.io/library/base', 'base'],
  ['docker.io/team/base:latest', 'team/base'],
  ['docker.io/library/team/base', 'library/team/base'],
  ['registry.example.com:5000/library/base:latest', 'registry.example.com:5000/library/base'],
  [`base@sha256:${'a'.repeat(64)}`, undefined],
  ['Not valid', undefined],
])('the familiar name of %s is %s', (image, name) => expect(familiarName(image)).toBe(name))
