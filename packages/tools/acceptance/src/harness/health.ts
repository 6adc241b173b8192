/** The answer of a health route: the status, and the checks that fail, as in `503 preparation orders`.
 *  Without a connection `refused`, and after `withinMs` `no answer`. */
export const healthOf = async (
  baseUrl: string,
  { path = '/health/ready', withinMs = 6_000 }: { path?: '/health' | '/health/ready'; withinMs?: number } = {},
): Promise<string> => {
  const signal = AbortSignal.timeout(withinMs);
  const answer = await fetch(`${baseUrl}${path}`, { signal })
    .then(async (response) => ({ status: response.status, body: await response.text() }))
    .catch(() => null);
  if (!answer) return signal.aborted ? 'no answer' : 'refused';
  const { missing = [] } = JSON.parse(answer.body) as { missing?: string[] };
  return [answer.status, ...missing].join(' ');
};
