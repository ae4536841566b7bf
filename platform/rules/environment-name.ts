/** What the environment of a repository is called, from its last part: by a deploy in a folder, a pipeline, a preview, and a page. */
export const environmentOfRepository = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '') || 'app'
