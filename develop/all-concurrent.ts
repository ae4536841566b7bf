/**
 * Waits for questions that were asked at once. When all are answered, throws the first failure in the order of the
 * list: which answer came first does not decide what the user reads.
 */
export async function allConcurrent<const Asked extends readonly unknown[]>(
  asked: Asked,
): Promise<{ -readonly [At in keyof Asked]: Awaited<Asked[At]> }> {
  await Promise.allSettled(asked)
  return Promise.all(asked)
}
