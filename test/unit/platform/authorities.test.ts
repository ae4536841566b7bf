import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { KubeObject } from '../../../adapters/kubernetes/cluster.ts'
import { readAuthorities } from '../../../cli/run/platform/read-authorities.ts'
import { makeAuthority } from '../../../platform/install/certificates/certificates.ts'
import { EVERYTHING, platformObjects } from '../../../platform/install/manifests/server.ts'
import type { WantedRun } from '../../../platform/records/run.ts'
import { writeAuthorities } from '../../../platform/runner/authorities.ts'
import { jobSpec } from '../../../platform/server/runs/run-objects.ts'
import { readSettings } from '../../../platform/server/settings.ts'

// `devctl platform install --ca FILE` reaches the server, runs and builders.

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'devctl-authorities-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

const one = {
  ...{ version: '1.0.0', domain: 'dev.example.com', image: 'x', runnerImage: 'x', replicas: 1 },
  ...{ kubernetes: { server: 'https://k.example.com' }, ...EVERYTHING },
}

const RUN: WantedRun = {
  ...{ id: '01J', namespace: 'shop', namespaceUid: '1f2e3d4c', environment: 'shop', action: 'deploy', user: 'ann' },
  repository: 'https://git.example.com/team/shop',
  variables: [],
}

/** Returns the data of a ConfigMap. */
const dataOf = (objects: readonly KubeObject[], namespace: string, name: string) =>
  objects.find(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.namespace === namespace && metadata.name === name,
  )?.['data'] as Readonly<Record<string, string>> | undefined

test('the server, runs and both pools of builders get the authorities', () => {
  const objects = platformObjects({ ...one, trusted: 'PEM\n' })
  expect(dataOf(objects, 'devctl-platform', 'settings')).toMatchObject({ 'ca.pem': 'PEM\n' })
  expect(dataOf(objects, 'devctl-runs', 'ca')).toEqual({ 'ca.crt': 'PEM\n' })
  for (const name of ['builder', 'builder-untrusted'])
    expect(dataOf(objects, 'devctl-build', name)).toMatchObject({ 'ca.pem': 'PEM\n' })
  const restarting = (trusted: string) =>
    JSON.stringify(platformObjects({ ...one, trusted }).filter(({ kind }) => kind !== 'ConfigMap'))
  expect(restarting('PEM\n')).not.toBe(restarting('other'))
})

test('devctl in a run trusts the authorities, and is not told of a file that does not exist', () => {
  const runs = (trusted: string | undefined) => {
    const objects = platformObjects({ ...one, ...(trusted !== undefined && { trusted }) })
    return readSettings(dataOf(objects, 'devctl-platform', 'settings')!['settings.json']!).runs!
  }
  const spec = (trusted: string | undefined) => JSON.stringify(jobSpec(RUN, runs(trusted)))
  expect(spec('PEM\n')).toContain('{"name":"NODE_EXTRA_CA_CERTS","value":"/run/devctl/ca/ca.crt"}')
  expect(spec(undefined)).not.toContain('NODE_EXTRA_CA_CERTS')
})

test('without authorities, the ConfigMap of runs leaves the keys of operators alone', () => {
  const objects = platformObjects(one)
  expect(objects.some(({ metadata }) => metadata.name === 'ca' && metadata.namespace === 'devctl-runs')).toBe(true)
  expect(dataOf(objects, 'devctl-runs', 'ca')).toBeUndefined()
})

test('programs of a run trust the authorities of the operators and those of the image', () => {
  const at = folder()
  const [own, system, to] = ['own', 'system', 'to'].map(name => join(at, name)) as [string, string, string]
  expect(writeAuthorities(own, to, system)).toBeUndefined()
  writeFileSync(own, 'OWN')
  expect(writeAuthorities(own, to, system)).toBe(to)
  expect(readFileSync(to, 'utf8')).toBe('OWN\n')
  writeFileSync(system, 'SYSTEM\n')
  writeAuthorities(own, to, system)
  expect(readFileSync(to, 'utf8')).toBe('OWN\nSYSTEM\n')
})

test('only the certificates of a file are installed, and a file without any is refused', async () => {
  const { certificate, key } = makeAuthority('corp', Date.now())
  const file = join(folder(), 'ca.pem')
  writeFileSync(file, `# corp\n${key}${certificate}`)
  expect(await readAuthorities(file, 'before')).toBe(certificate)
  expect(await readAuthorities(undefined, 'before')).toBe('before')
  expect(await readAuthorities('-', 'before')).toBeUndefined()
  writeFileSync(file, key)
  await expect(readAuthorities(file, undefined)).rejects.toThrow('has no certificate')
  writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n')
  await expect(readAuthorities(file, undefined)).rejects.toThrow('is damaged')
  await expect(readAuthorities(`${file}.none`, undefined)).rejects.toThrow('cannot be read')
})
