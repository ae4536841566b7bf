import { describe, expect, it } from 'vitest'
import { readDockerfile } from '../../../../../compiler/values/dockerfile/dockerfile.ts'
import { measureProcessor } from '../../../../support/processor-time.ts'

const none = new Map<string, string>()
const lines = (...text: string[]) => text.join('\n')
const ports = (text: string, args = none, target?: string) =>
  readDockerfile(text, target, args).exposed.map(({ port, protocol }) => `${port}/${protocol}`)

describe('lines', () => {
  it.each([
    ['one line', 'FROM a\nEXPOSE 80', ['80/tcp']],
    ['lower case', 'from a\nexpose 80', ['80/tcp']],
    ['CRLF and a byte order mark', '\ufeffFROM a\r\nEXPOSE 80\r\n', ['80/tcp']],
    ['continuation', 'FROM a\nEXPOSE 80 \\\n  81', ['80/tcp', '81/tcp']],
    ['blanks after the continuation', 'FROM a\nEXPOSE 80 \\  \n  81', ['80/tcp', '81/tcp']],
    ['comments and blank lines inside', 'FROM a\nEXPOSE 80 \\\n# no \\\n\n  81', ['80/tcp', '81/tcp']],
    ['an escaped backslash does not continue', 'FROM a\nENV X=\\\\\nEXPOSE 80', ['80/tcp']],
    ['a continuation at the end of the file', 'FROM a\nEXPOSE 80 \\', ['80/tcp']],
    ['the other escape character', '# escape=`\nFROM a\nENV X=C:\\\nEXPOSE 80 `\n81', ['80/tcp', '81/tcp']],
    ['a directive after a comment is a comment', '# hi\n# escape=`\nFROM a\nEXPOSE 80 \\\n81', ['80/tcp', '81/tcp']],
    ['several directives', '# syntax=docker/dockerfile:1\n# Escape = `\nFROM a\nEXPOSE 80 `\n81', ['80/tcp', '81/tcp']],
    ['a here-document', 'FROM a\nRUN <<EOF\nEXPOSE 1\nEOF\nEXPOSE 80', ['80/tcp']],
    ['two here-documents', 'FROM a\nCOPY <<A <<"B" /x/\nEXPOSE 1\nA\nEXPOSE 2\nB\nEXPOSE 80', ['80/tcp']],
    ['one with tabs', 'FROM a\nRUN cat <<-EOF > f\n\tEXPOSE 1\n\tEOF\nEXPOSE 80', ['80/tcp']],
    ['one that ends nowhere', 'FROM a\nRUN <<EOF\nEXPOSE 80', []],
    ['no here-document in a shift or a quote', 'FROM a\nRUN echo $((1<<2)) "<<EOF"\nEXPOSE 80', ['80/tcp']],
    ['ONBUILD is for others', 'FROM a\nONBUILD EXPOSE 80', []],
    ['before any stage', 'EXPOSE 80\nFROM a', []],
    ['nothing', '', []],
  ])('lines of a Dockerfile are read: %s', (_, text, expected) => expect(ports(text)).toEqual(expected))
})

describe('EXPOSE', () => {
  it.each([
    ['80', ['80/tcp']],
    ['80/TCP 80/udp', ['80/tcp', '80/udp']],
    ['80 80', ['80/tcp']],
    ['8000-8002/sctp', ['8000/sctp', '8001/sctp', '8002/sctp']],
    ['"80"', ['80/tcp']],
    ['80:80 x 0 65536 70-60 81', ['81/tcp']],
    ['$PORT $UNKNOWN 81', ['8080/tcp', '81/tcp']],
    ['${PORT}/udp', ['8080/udp']],
    ['${UNKNOWN:-90} ${PORT:+91} ${UNKNOWN:+92}', ['90/tcp', '91/tcp']],
    ['${UNKNOWN:-${PORT}}', ['8080/tcp']],
    ['$MANY', ['1/tcp', '2/tcp']],
    ["'$PORT' 81", ['81/tcp']],
    ['\\$PORT 81', ['81/tcp']],
    ['${PORT#8} 81', ['81/tcp']],
  ])('the ports of EXPOSE %s are read', (text, expected) => {
    expect(ports(`FROM a\nENV PORT=8080 MANY="1 2"\nEXPOSE ${text}`)).toEqual(expected)
  })
})

describe('variables', () => {
  it.each([
    ['a default', 'FROM a\nARG P=80\nEXPOSE $P', ['80/tcp']],
    ['the build argument wins', 'FROM a\nARG GIVEN=80\nEXPOSE $GIVEN', ['9000/tcp']],
    ['it needs a declaration', 'FROM a\nEXPOSE $GIVEN', []],
    ['an argument without any value', 'FROM a\nARG P\nEXPOSE $P 81', ['81/tcp']],
    ['global, not declared in the stage', 'ARG P=80\nFROM a\nEXPOSE $P', []],
    ['global, declared in the stage', 'ARG P=80\nFROM a\nARG P\nEXPOSE $P', ['80/tcp']],
    ['a default that uses another', 'ARG A=80\nARG B=$A\nFROM a\nARG B\nEXPOSE $B', ['80/tcp']],
    ['several at once', 'FROM a\nARG A=80 B=81\nEXPOSE $A $B', ['80/tcp', '81/tcp']],
    ['ENV beats ARG', 'FROM a\nARG P=80\nENV P=81\nEXPOSE $P', ['81/tcp']],
    ['ENV from ARG', 'FROM a\nARG P=80\nENV Q=$P\nEXPOSE $Q', ['80/tcp']],
    ['ENV in the old form', 'FROM a\nENV P 80\nEXPOSE $P', ['80/tcp']],
    ['ENV sees the line before only', 'FROM a\nENV A=1\nENV A=2 B=$A\nEXPOSE $B', ['1/tcp']],
    ['ENV reaches later stages, ARG does not', 'FROM a AS x\nARG A=1\nENV B=2\nFROM x\nEXPOSE $A $B', ['2/tcp']],
    ['ENV made of something unknown', 'FROM a\nENV P=80\nENV P=$U\nEXPOSE $P', []],
    ['ENV made of something unknown beats ARG', 'FROM a\nARG P=80\nENV P=$U\nEXPOSE $P 81', ['81/tcp']],
    ['unknown ENV of an earlier stage beats ARG', 'FROM a AS x\nENV P=$U\nFROM x\nARG P=80\nEXPOSE $P 81', ['81/tcp']],
  ])('variables in EXPOSE are read: %s', (_, text, expected) =>
    expect(ports(text, new Map([['GIVEN', '9000']]))).toEqual(expected),
  )

  it('the nesting of variables is limited', () => {
    expect(ports(`FROM a\nEXPOSE ${'${A:-'.repeat(5000)}80${'}'.repeat(5000)}`)).toEqual([])
  })
})

describe('stages', () => {
  const text = lines(
    'ARG TAG=1',
    'FROM --platform=$BUILDPLATFORM node:$TAG AS Build',
    'EXPOSE 1',
    'USER node',
    'WORKDIR /app',
    'FROM build AS dev',
    'EXPOSE 2',
    'WORKDIR src/../lib',
    'FROM nginx',
    'EXPOSE 3',
  )
  it.each([
    [undefined, ['3/tcp'], 'nginx'],
    ['build', ['1/tcp'], 'node:1'],
    ['DEV', ['1/tcp', '2/tcp'], 'node:1'],
    ['0', ['1/tcp'], 'node:1'],
    ['2', ['3/tcp'], 'nginx'],
    ['nope', [], undefined],
    ['9', [], undefined],
  ])('the ports and the base are those of the target %s', (target, expected, base) => {
    expect(ports(text, none, target)).toEqual(expected)
    expect(readDockerfile(text, target, none).base).toBe(base)
  })

  it('a stage inherits from its base', () => {
    expect(readDockerfile(text, 'dev', none)).toMatchObject({ user: 'node', workdir: '/app/lib' })
    expect(readDockerfile(text, 'build', none)).toMatchObject({ user: 'node', workdir: '/app' })
  })

  it('a stage that is named like its base uses the external image', () => {
    expect(readDockerfile('FROM a AS a\nEXPOSE 1\nFROM a', undefined, none)).toMatchObject({
      base: 'a',
      exposed: [{ port: 1 }],
    })
  })

  it('the base is absent if its name is unknown', () => {
    expect(readDockerfile('FROM $IMAGE\nEXPOSE 1', undefined, none)).toEqual({
      exposed: [{ port: 1, protocol: 'tcp' }],
      volumes: [],
      copied: [],
    })
  })
})

describe('the process', () => {
  const image = (...text: string[]) => readDockerfile(lines('FROM a', ...text), undefined, none)

  it.each([
    ['CMD ["node", "x.js"]', { cmd: ['node', 'x.js'] }],
    ['CMD node x.js', { cmd: ['/bin/sh', '-c', 'node x.js'] }],
    ['CMD [node]', { cmd: ['/bin/sh', '-c', '[node]'] }],
    ['CMD []', { cmd: [] }],
    ['SHELL ["/bin/bash", "-ec"]\nCMD echo "$HOME"', { cmd: ['/bin/bash', '-ec', 'echo "$HOME"'] }],
    ['ENTRYPOINT ["a"]\nCMD ["b"]', { entrypoint: ['a'], cmd: ['b'] }],
    ['CMD ["b"]\nENTRYPOINT ["a"]', { entrypoint: ['a'], cmd: ['b'] }],
    ['ENTRYPOINT a', { entrypoint: ['/bin/sh', '-c', 'a'], cmd: [] }],
    ['CMD ["a"]\nCMD ["b"]', { cmd: ['b'] }],
    ['USER 1000:1000', { user: '1000:1000' }],
    ['USER a\nUSER $U', { user: undefined }],
    ['USER "a"', { user: 'a' }],
    ['WORKDIR /a\nWORKDIR b', { workdir: '/a/b' }],
    ['WORKDIR b', { workdir: undefined }],
    ['VOLUME /a /b\nVOLUME ["/c", "/a"]', { volumes: ['/a', '/b', '/c'] }],
    ['ENV D=/data\nVOLUME $D $U', { volumes: ['/data'] }],
  ])('the process follows from %j', (text, expected) => expect(image(text)).toMatchObject(expected))

  it('a new entrypoint clears the command of the parent', () => {
    expect(readDockerfile('FROM a AS x\nCMD ["b"]\nFROM x\nENTRYPOINT ["c"]', undefined, none)).toMatchObject({
      entrypoint: ['c'],
      cmd: [],
    })
  })

  it('a working directory is relative to the root if no base has one', () => {
    expect(readDockerfile('FROM scratch\nWORKDIR b', undefined, none).workdir).toBe('/b')
  })
})

describe('HEALTHCHECK', () => {
  const check = (text: string) => readDockerfile(`FROM a\nHEALTHCHECK ${text}`, undefined, none).healthcheck

  it.each([
    ['NONE', { kind: 'none' }],
    ['CMD curl -f http://localhost/ || exit 1', { kind: 'shell', script: 'curl -f http://localhost/ || exit 1' }],
    ['cmd ["curl", "x"]', { kind: 'exec', command: ['curl', 'x'] }],
  ])('HEALTHCHECK %s is read', (text, expected) => expect(check(text)?.check).toEqual(expected))

  it('options of HEALTHCHECK are read', () => {
    expect(
      check('--interval=5m --timeout=3s --start-period=1m30s \\\n --start-interval=500ms --retries=4 CMD ["x"]'),
    ).toEqual({
      check: { kind: 'exec', command: ['x'] },
      interval: 300_000_000_000n,
      timeout: 3_000_000_000n,
      startPeriod: 90_000_000_000n,
      startInterval: 500_000_000n,
      retries: 4,
    })
  })

  it.each(['', 'CMD', 'curl x', '--interval=5m'])('%j is not a healthcheck', text =>
    expect(check(text)).toBeUndefined(),
  )

  it('zero in an option of HEALTHCHECK means the default', () => {
    expect(check('--interval=0s --retries=0 CMD x')).toEqual({ check: { kind: 'shell', script: 'x' } })
  })
})

it('the cost of a Dockerfile is linear in its length', () => {
  const text = `FROM a\n${'EXPOSE 80 \\\n'.repeat(20_000)}\n${'ENV A=$A\nARG B\nRUN <<E\nx\nE\n'.repeat(5_000)}`
  expect(processorTime(() => readDockerfile(text, undefined, none))).toBeLessThan(1000)
})

describe('a malicious Dockerfile', () => {
  const many = (count: number, line: (n: number) => string) => Array.from({ length: count }, (_, n) => line(n)).join('')
  it.each([
    ['variables that double', `FROM a\nENV A0=x\n${many(60, n => `ENV A${n + 1}=$A${n}$A${n}\n`)}USER $A60\n`],
    ['arguments that double', `ARG A0=x\n${many(60, n => `ARG A${n + 1}=$A${n}$A${n}\n`)}FROM $A60\n`],
    ['all ports, often', `FROM a\n${'EXPOSE 1-65535\n'.repeat(5_000)}`],
    ['many volumes', `FROM a\n${many(50_000, n => `VOLUME /${n}\n`)}`],
    ['variables of both kinds', `FROM a\n${many(10_000, n => `ENV A${n}=b\nARG B${n}=c\nUSER $B1\n`)}`],
    ['stages', `FROM a AS s0\n${many(20_000, n => `ENV A${n}=b\n`)}${many(20_000, n => `FROM s${n} AS s${n + 1}\n`)}`],
    ['a text without end', `FROM a\n${'COPY a /b\n'.repeat(1_000_000)}`],
  ])('a malicious Dockerfile is read quickly: %s', (_, text) => {
    const user = text.includes('USER $B1') ? 'c' : undefined
    const took = processorTime(() => expect(readDockerfile(text, undefined, none).user).toBe(user))
    expect(took).toBeLessThan(1000)
  })
})

/** Returns the milliseconds of processor time that some work takes. */
function processorTime(work: () => void): number {
  const used = measureProcessor()
  work()
  return used()
}
