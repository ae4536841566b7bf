/** Throws an Error if a tag is given and differs from the tag of the version, such as `v0.1.0`. */
export function checkTag(tag, version) {
  if (tag !== undefined && tag !== `v${version}`)
    throw new Error(
      `the tag is ${tag}, but package.json has the version ${version}: tag v${version}, or change the version`,
    )
}
