/**
 * Returns the environment name for a repository, from the last part of its address. Deploys from a local folder,
 * pipelines, previews, and pages use this name.
 */
export const environmentOfRepository = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 63)
    .replace(/-+$/, '') || 'app'
