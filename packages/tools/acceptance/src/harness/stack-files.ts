import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const Sandbox = z.object({ base_url: z.string(), merchant_id: z.string(), api_key: z.string() });
const Environment = z.looseObject({ EVENTSTORE_URL: z.string(), KAFKA_BROKERS: z.string(), DATABASE_URL: z.string() });
const Processes = z.record(z.string(), z.int());

/** A stack as described by its data folder: its address, its engines and the environment of its services. */
export interface StackFiles {
  readonly dataDir: string;
  readonly baseUrl: string;
  readonly merchantId: string;
  readonly apiKey: string;
  readonly eventstoreUrl: string;
  readonly kafkaBrokers: string;
  readonly databaseUrl: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Reads the files that the launcher writes. Throws if no stack ever got ready on this folder. */
export const readStackFiles = (dataDir: string): StackFiles => {
  const sandbox = Sandbox.parse(readJson(join(dataDir, 'sandbox.json')));
  const environment = Environment.parse(readJson(join(dataDir, 'environment.json')));
  return {
    dataDir,
    baseUrl: sandbox.base_url,
    merchantId: sandbox.merchant_id,
    apiKey: sandbox.api_key,
    eventstoreUrl: environment.EVENTSTORE_URL,
    kafkaBrokers: environment.KAFKA_BROKERS,
    databaseUrl: environment.DATABASE_URL,
    environment: environment as Record<string, string>,
  };
};

/** The running processes by name: `orders`, `webhook-dispatcher-1`, `postgres`, ... */
export const processesOf = (dataDir: string): Record<string, number> =>
  Processes.parse(readJson(join(dataDir, 'processes.json')));

const readJson = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'));
