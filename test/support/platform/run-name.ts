let files = 0

const next = () =>
  `t${(process.pid % 36 ** 3).toString(36).padStart(3, '0')}${(files++ % 36 ** 2).toString(36).padStart(2, '0')}`

/** The end of names that no other run, and no other test file, uses. */
export let RUN = next()

/** Begins another test file: files of one worker share this module. */
export function beginFile(): void {
  RUN = next()
}
