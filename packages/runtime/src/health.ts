import type { AnyApp } from './any-app.ts';
import { withTimeout } from './with-timeout.ts';

/** Readiness checks by dependency. A check rejects while its dependency is unavailable. */
export type ReadinessChecks = Record<string, () => Promise<unknown>>;

const CHECK_TIMEOUT_MS = 2_000;

// Anybody can request the readiness, and a check costs queries and calls.
const CACHE_MS = 1_000;

const NEVER_REFUSED = { config: { load: 'health' } } as const;

/** `GET /health` answers 200 while the process runs. `GET /health/ready` answers 200, or 503 with the names of the
 *  failed checks, at most a second old. */
export const healthRoutes = (
  app: AnyApp,
  checks: ReadinessChecks,
  { nowMs = () => performance.now() }: { nowMs?: () => number } = {},
): void => {
  let latest: { readonly missing: Promise<string[]>; readonly atMs: number } | undefined;
  app.get('/health', NEVER_REFUSED, async () => ({ status: 'ok' }));
  app.get('/health/ready', NEVER_REFUSED, async (_request, reply) => {
    if (!latest || nowMs() - latest.atMs >= CACHE_MS) latest = { missing: failedChecks(checks), atMs: nowMs() };
    const missing = await latest.missing;
    if (missing.length === 0) return { status: 'ok' };
    return reply.code(503).header('retry-after', 1).send({ status: 'unavailable', missing });
  });
};

const failedChecks = async (checks: ReadinessChecks): Promise<string[]> => {
  const names = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withTimeout(CHECK_TIMEOUT_MS, check());
        return null;
      } catch {
        return name;
      }
    }),
  );
  return names.filter((name) => name !== null);
};
