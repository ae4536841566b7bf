import { UserError } from '../compiler/diagnostics/user-error.ts'

/** A command line that cannot be understood. Exit status 2. */
export class UsageError extends UserError {}
