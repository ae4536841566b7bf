// The word of a day: the same for everybody.
export const choose = (words, day) => words[day % words.length]
