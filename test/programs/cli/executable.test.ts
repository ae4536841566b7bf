import { executableSuite } from '../../support/channels/executable-suite.ts'

// The executable for arm64 is tested in test/long.
executableSuite('amd64')
