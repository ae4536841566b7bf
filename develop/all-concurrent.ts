/**
 * Awaits concurrent requests. Once all have completed, throws the first failure in the order of the list, so that the
 * error the user sees does not depend on which request failed first.
 */
export async function allConcurrent<const Asked extends readonly unknown[]>(
  asked: Asked,
): Promise<{ -readonly [At in keyof Asked]: Awaited<Asked[At]> }> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
}
