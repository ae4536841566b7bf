import { describeWrongValues } from '../support/cli/wrong-value-suite.ts'

// A fourth of these is in `npm test`.
describeWrongValues(1)
