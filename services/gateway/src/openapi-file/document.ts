import { createLogger } from '@cpg/platform';
import { buildApp } from '../app.ts';
import type { OpenApi } from './breaking-changes.ts';

/** Generates the OpenAPI document of a sandbox, which has all routes. Needs no database or other service. */
export const openApiDocument = async (): Promise<OpenApi> => {
  const unused = new Proxy({}, { get: () => undefined }) as never;
  const app = await buildApp({
    gate: { waitUntilOpen: async () => {} },
    environment: 'sandbox',
    scales: unused,
    pool: unused,
    orders: unused,
    payments: unused,
    dispatcher: unused,
    authenticator: unused,
    onScopeUse: unused,
    pepper: unused,
    limits: { requests: unused, failures: unused, lookups: unused },
    box: unused,
    instanceName: unused,
    checkUrl: unused,
    allowLocalUrls: false,
    ready: {},
    payPage: { script: Buffer.alloc(0), streams: { max: 0, maxPerAddress: 0 } },
    now: unused,
    endsBy: unused,
    log: createLogger({ name: 'openapi', level: 'silent' }),
    trustProxy: false,
  });
  try {
    await app.ready();
    // Not by a request: that has a time limit, which a busy machine exceeds.
    return JSON.parse(JSON.stringify(app.swagger())) as OpenApi;
  } finally {
    await app.close();
  }
};
