/** Prints data as YAML. Strings that some version of YAML reads as another type are quoted; null is an empty value. */
export async function printYaml(value: unknown): Promise<string> {
  const { stringify } = await import('yaml')
  return stringify(value, { lineWidth: 0, compat: 'yaml-1.1', nullStr: '', flowCollectionPadding: false })
}
