const START = 1_700_000_000

/**
 * The stream of `git fast-import` for a branch with these files and a history behind them. The first commit has all
 * files, each further one changes one of them, in turn; the ids of the commits are the same in each run.
 * @param {{ branch: string, files: Readonly<Record<string, string>>, commits: number }} options
 * @returns {string}
 */
export function historyStream({ branch, files, commits }) {
  const paths = Object.keys(files)
  const out = [`reset refs/heads/${branch}\n`]
  for (let index = 0; index < commits; index++) {
    const who = `Test History <history@example.com> ${START + index * 60} +0000`
    out.push(`commit refs/heads/${branch}\ncommitter ${who}\n${data(`change ${index}`)}`)
    const changed = index === 0 ? paths : paths.length === 0 ? [] : [paths[index % paths.length]]
    for (const path of changed)
      out.push(`M 100644 inline ${JSON.stringify(path)}\n${data(`${files[path]}${index === 0 ? '' : `# ${index}\n`}`)}`)
  }
  return `${out.join('')}done\n`
}

/**
 * Files as a GitOps repository of many applications has them: four to an application.
 * @param {number} count
 * @returns {Readonly<Record<string, string>>}
 */
export function manifestFiles(count) {
  const kinds = ['Deployment', 'Service', 'ConfigMap', 'NetworkPolicy']
  return Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const kind = kinds[index % kinds.length]
      const name = `app-${Math.floor(index / kinds.length)}`
      const path = `environments/${index % 3 === 0 ? 'production' : 'staging'}/${name}/${kind.toLowerCase()}.yaml`
      return [
        path,
        `apiVersion: v1\nkind: ${kind}\nmetadata:\n  name: ${name}\n  annotations:\n    number: "${index}"\n`,
      ]
    }),
  )
}

/** @param {string} text */
function data(text) {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}
