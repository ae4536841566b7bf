// The search of the site, in the browser. The index is loaded when the field gets the focus.
import MiniSearch from 'minisearch'
import { SEARCH } from './search-options.mjs'

const base = document.documentElement.dataset.base
const field = document.querySelector('#search')
const results = document.querySelector('#results')
const status = document.querySelector('#search-status')
let index

/** Loads the search index on the first call. After a failure, the next call tries again. */
function load() {
  index ??= fetch(`${base}/search.json`)
    .then(response => (response.ok ? response.text() : Promise.reject(new Error(`${response.status}`))))
    .then(text => MiniSearch.loadJSON(text, SEARCH))
    .catch(error => {
      index = undefined
      throw error
    })
  return index
}

async function search() {
  const words = field.value.trim()
  if (words === '') return show([], '')
  try {
    const found = (await load()).search(words).slice(0, 12)
    if (field.value.trim() === words) show(found, found.length === 0 ? 'nothing found' : `${found.length} results`)
  } catch {
    show([], 'the search index could not be loaded')
  }
}

function show(found, message) {
  status.textContent = message
  results.replaceChildren(...found.map(item))
  results.hidden = found.length === 0
}

function item({ id, title, page, start }) {
  const link = document.createElement('a')
  link.href = `${base}/${id}`
  const [name, place, text] = ['strong', 'span', 'p'].map(tag => document.createElement(tag))
  name.textContent = title
  place.textContent = title === page ? '' : page
  text.textContent = start
  link.append(name, ' ', place, text)
  const entry = document.createElement('li')
  entry.append(link)
  return entry
}

field.addEventListener('focus', () => load().catch(() => {}))
field.addEventListener('input', search)
document.addEventListener('keydown', event => {
  if (event.key === '/' && document.activeElement === document.body) {
    event.preventDefault()
    field.focus()
  }
  if (event.key === 'Escape') {
    field.value = ''
    show([], '')
  }
})
