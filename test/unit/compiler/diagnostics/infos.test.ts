import { expect, test } from 'vitest'
import '../../../../compiler/index.ts'
import { catalogue } from '../../../../compiler/diagnostics/diagnostic.ts'

/**
 * Reasons why each info is not a warning. Infos are hidden by default, so an info may only say how devctl does what
 * Compose does with the file: what is reached, kept, guarded and restarted is equal.
 */
const sameAsCompose: Readonly<Record<string, string>> = {
  'autoscale/scale': 'the autoscaler, which is wanted, sets the number of containers',
  'depends-on/no-replicas': 'Compose does not wait for a service without containers either',
  'environment/no-value': 'Compose leaves the variable out too, and says nothing',
  'healthcheck/from-dockerfile': 'an engine runs the HEALTHCHECK of an image too',
  'image/not-known': 'nothing that the file says; what an image says may be more',
  'kind/job-by-wait': 'a service that is waited for until it has ended ends, as with the default policy of Compose',
  'kind/on-failure-job': 'it is started again until it ends without an error in Compose, too',
  'logging/not-needed': 'the node keeps what is printed, and rotates it',
  'names/shortened': 'the name of an object; hosts keep theirs',
  'ports/by-mention': 'every port of a container is open to its peers in Compose',
  'schema/external-name-is-old': 'an old form of the same',
  'security/level': 'what the namespace must allow; one that does not says so itself',
  'stop-grace-period/zero': 'one second more until the kill',
  'update-policy/stateful-set-parallelism': 'Compose replaces containers in its own order',
  'version/no-effect': 'Compose does not read it either',
  'volumes/below-host-volume': 'the files of the image are seen, which is what the volume is for',
  'volumes/host-as-secret': 'the same files, mounted read-only as the file says',
  'volumes/host-copied': 'the same files, mounted read-only as the file says',
  'volumes/synchronized': 'the image holds the same files',
  'volumes/unused': 'Compose makes no volume that nobody mounts either',
}

test('every info has a reason why nothing is lost', () => {
  const infos = [...catalogue.values()].filter(({ severity }) => severity === 'info').map(({ code }) => code)
  expect(infos.sort()).toEqual(Object.keys(sameAsCompose))
})
