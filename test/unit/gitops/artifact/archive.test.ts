import { execFileSync } from 'node:child_process'
import { gunzipSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { pack, unpack } from '../../../../gitops/artifact/archive.ts'

const LONG = `${'folder/'.repeat(10)}${'n'.repeat(120)}.yaml`
const FILES = new Map([
  ['web/deployment-web.yaml', 'kind: Deployment # ä 😀\n'],
  ['.devctl.lock', '{}\n'],
  ['a'.repeat(100), 'just fits\n'],
  [LONG, 'x'.repeat(5000)],
  ['empty', ''],
])

describe('an archive', () => {
  test('unpack returns the files that were packed', () => {
    expect(unpack(pack(FILES))).toEqual(new Map([...FILES].sort(([a], [b]) => (a < b ? -1 : 1))))
  })

  test('pack returns the same bytes for the same files in any order', () => {
    expect(Buffer.compare(pack(FILES), pack(new Map([...FILES].reverse())))).toBe(0)
  })

  test('an archive has no times or owners, and tar can read it', () => {
    const list = execFileSync('tar', ['--list', '--verbose', '--utc', '--numeric-owner', '--gzip', '--file=-'], {
      input: pack(FILES),
      encoding: 'utf8',
    })
    const lines = list.trimEnd().split('\n')
    expect(lines).toHaveLength(FILES.size)
    for (const line of lines) expect(line).toMatch(/^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 /)
    expect(list).toContain(LONG)
  })

  test('unpack reads the files of archives in the formats GNU, ustar and pax', () => {
    for (const format of ['gnu', 'ustar', 'pax']) {
      const script = `cd "$(mktemp -d)" && mkdir -p d/${'e'.repeat(60)} && echo hi >d/${'e'.repeat(60)}/${'f'.repeat(60)} && ln -s /etc/passwd link && tar --format=${format} -czf - .`
      const bytes = execFileSync('sh', ['-c', script])
      expect(unpack(bytes), format).toEqual(new Map([[`d/${'e'.repeat(60)}/${'f'.repeat(60)}`, 'hi\n']]))
    }
  })

  test.each(['/etc/passwd', '../up', 'a/../../b', 'a\\b'])('unpack refuses the path %s', path => {
    expect(unpack(pack(new Map([[path, 'x']])))).toBeUndefined()
  })

  test('unpack refuses a damaged archive, and what is no archive', () => {
    expect(unpack(Buffer.from('no archive'))).toBeUndefined()
    const bytes = Buffer.from(gunzipSync(pack(FILES)))
    bytes[0] = bytes[0]! ^ 1
    expect(unpack(gzipSync(bytes))).toBeUndefined()
    expect(
      unpack(gzipSync(Buffer.from(gunzipSync(pack(new Map([['a', 'x'.repeat(3000)]])))).subarray(0, 1024))),
    ).toBeUndefined()
  })
})
