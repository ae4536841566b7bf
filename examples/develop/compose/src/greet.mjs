/** Change a word, save, and load the page again. */
export const greet = (greeting, host) => `${greeting} from ${host}\n`
