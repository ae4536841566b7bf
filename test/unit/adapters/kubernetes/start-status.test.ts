import { expect, test } from 'vitest'
import { startStatus } from '../../../../adapters/kubernetes/start-status.ts'

test.each([
  ['exec: "web": executable file not found in $PATH: unknown', 127],
  ['exec: "mount": executable file not found in $PATH: unknown', 127],
  ['exec: "mountpoint": executable file not found in $PATH: unknown', 127],
  ['exec: "/mounts/run.sh": permission denied: unknown', 126],
  ['executable file `mount` not found in $PATH: No such file or directory', 127],
  ['exec: "/cwd/run.sh": stat /cwd/run.sh: no such file or directory: unknown', 127],
  ['chdir to cwd ("/work") set in config.json failed: no such file or directory: unknown', undefined],
  ['error mounting "/a" to rootfs at "/b": not a directory: unknown', undefined],
  ['exec: "web": mount /proc: permission denied', undefined],
])('the exit status for the message of a container runtime: %s is %s', (message, expected) =>
  expect(startStatus(`failed to create shim task: OCI runtime create failed: ${message}`)).toBe(expected),
)
