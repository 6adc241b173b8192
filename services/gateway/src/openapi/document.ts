import { createLogger } from '@cpg/runtime';
import { buildApp } from '../app.ts';
import type { OpenApi } from './breaking.ts';

/** The OpenAPI document of a sandbox, which has every route. Nothing behind the routes is needed to describe them. */
export const apiDocument = async (): Promise<OpenApi> => {
  const nothing = new Proxy({}, { get: () => undefined }) as never;
  const app = await buildApp({
    environment: 'sandbox',
    pool: nothing,
    orders: nothing,
    payments: nothing,
    dispatcher: nothing,
    authenticator: nothing,
    limits: { requests: nothing, failures: nothing },
    box: nothing,
    instance: nothing,
    checkUrl: nothing,
    ready: {},
    now: nothing,
    log: createLogger({ name: 'openapi', level: 'silent' }),
    trustProxy: false,
  });
  try {
    return (await app.inject('/openapi.json')).json<OpenApi>();
  } finally {
    await app.close();
  }
};
