import type { AnyApp } from './http.ts';
import { withTimeout } from './with-timeout.ts';

/** Checks by the name of what they look at; each one rejects while that is missing. */
export type ReadinessChecks = Record<string, () => Promise<unknown>>;

const CHECK_WITHIN_MS = 2_000;

/** `GET /health`: 200 while the process runs. `GET /health/ready`: 200, or 503 naming what is missing. */
export const healthRoutes = (app: AnyApp, checks: ReadinessChecks): void => {
  app.get('/health', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const missing = await failing(checks);
    if (missing.length === 0) return { status: 'ok' };
    return reply.code(503).header('retry-after', 1).send({ status: 'unavailable', missing });
  });
};

const failing = async (checks: ReadinessChecks): Promise<string[]> => {
  const names = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => {
      try {
        await withTimeout(CHECK_WITHIN_MS, check());
        return null;
      } catch {
        return name;
      }
    }),
  );
  return names.filter((name) => name !== null);
};
