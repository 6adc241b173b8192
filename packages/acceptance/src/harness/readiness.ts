/** What a service answers on a health route: `200`, or for example `503 preparation orders` with the checks that fail.
 *  `refused` without a connection, `no answer` after `withinMs`. */
export const readinessOf = async (
  baseUrl: string,
  { path = '/health/ready', withinMs = 6_000 }: { path?: '/health' | '/health/ready'; withinMs?: number } = {},
): Promise<string> => {
  const signal = AbortSignal.timeout(withinMs);
  try {
    const answer = await fetch(`${baseUrl}${path}`, { signal });
    const { missing = [] } = (await answer.json()) as { missing?: string[] };
    return [answer.status, ...missing].join(' ');
  } catch {
    return signal.aborted ? 'no answer' : 'refused';
  }
};
