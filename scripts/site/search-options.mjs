// Options of the search index: the build writes the index, and the page reads it with the same options.
export const SEARCH = {
  fields: ['title', 'page', 'text'],
  storeFields: ['page', 'title', 'start'],
  searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  // Keys and codes are found by their parts, too: `x-expose`, `ports/not-http`.
  tokenize: text => text.split(/[\s\p{P}\p{S}]+/u),
}
