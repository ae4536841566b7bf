/** Throws if a tag is given and is not that of the version. */
export function checkTag(tag, version) {
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(
      `the tag is ${tag}, but package.json has the version ${version}: tag v${version}, or change the version`,
    )
}
