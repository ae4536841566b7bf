import { RUN } from '../../support/platform/run-name.ts'

// Tests show texts that try to be more than text, and names that no other run has. Pictures are for readers: they show
// what a team would have.

/** Destination of the pictures: `1` is docs/platform, any other value a folder. Absent: this is a test. */
export const PICTURES = process.env['PICTURES']

/** A name of this run. */
export const named = (name: string): string => (PICTURES === undefined ? `${name}-${RUN}` : name)

/** A text for tests, and what pictures show instead. */
export const shown = (text: string, instead: string): string => (PICTURES === undefined ? text : instead)
