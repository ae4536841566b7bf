import { existsSync } from 'node:fs'
import { describe } from 'vitest'
import { executableSuite } from '../support/channels/executable-suite.ts'
import { lacks } from '../support/lacks.ts'

// Debian has both: qemu-user-static; libc6-arm64-cross and libstdc++6-arm64-cross.
const QEMU = '/usr/bin/qemu-aarch64-static'
const LIBRARIES = '/usr/aarch64-linux-gnu'

describe.skipIf(lacks(`${QEMU} and ${LIBRARIES}`, ![QEMU, `${LIBRARIES}/lib/libstdc++.so.6`].every(existsSync)))(
  'on an emulated processor',
  () => executableSuite('arm64', [QEMU, '-L', LIBRARIES]),
)
