import type { AnyApp } from './any-app.ts';
import { misconfigurationOf } from '../outages/outages.ts';
import { withTimeout } from '../outages/retry.ts';

/** Readiness checks by dependency. A check rejects while its dependency is unavailable. */
export type ReadinessChecks = Record<string, () => Promise<unknown>>;

const CHECK_TIMEOUT_MS = 2_000;

// Anybody can request the readiness, and a check costs queries and calls.
const CACHE_MS = 1_000;

const NEVER_REFUSED = { config: { load: 'health' } } as const;

/** `GET /health` answers 200 while the process runs. `GET /health/ready` answers 200, or 503 with the names of the
 *  failed checks, at most a second old, and what to correct where a setting is wrong. `details` are facts that decide
 *  nothing; they are absent when they cannot be read. */
export const healthRoutes = (
  app: AnyApp,
  checks: ReadinessChecks,
  {
    nowMs = () => performance.now(),
    details = async () => ({}),
  }: { nowMs?: () => number; details?: (() => Promise<object>) | undefined } = {},
): void => {
  let latest: { readonly answer: Promise<readonly [FailedCheck[], object]>; readonly atMs: number } | undefined;
  const readDetails = () => withTimeout(CHECK_TIMEOUT_MS, details()).catch(() => ({}));
  app.get('/health', NEVER_REFUSED, async () => ({ status: 'ok' }));
  app.get('/health/ready', NEVER_REFUSED, async (_request, reply) => {
    if (!latest || nowMs() - latest.atMs >= CACHE_MS)
      latest = { answer: Promise.all([failedChecks(checks), readDetails()]), atMs: nowMs() };
    const [failed, facts] = await latest.answer;
    if (failed.length === 0) return { status: 'ok', ...facts };
    const missing = failed.map(({ name }) => name);
    const corrections = failed.flatMap(({ correction }) => correction ?? []);
    return reply
      .code(503)
      .header('retry-after', 1)
      .send({ status: 'unavailable', missing, ...(corrections.length > 0 && { corrections }), ...facts });
  });
};

interface FailedCheck {
  readonly name: string;
  readonly correction: string | null;
}

const failedChecks = async (checks: ReadinessChecks): Promise<FailedCheck[]> => {
  const results = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withTimeout(CHECK_TIMEOUT_MS, check());
        return null;
      } catch (error) {
        return { name, correction: misconfigurationOf(error) };
      }
    }),
  );
  return results.filter((result) => result !== null);
};
