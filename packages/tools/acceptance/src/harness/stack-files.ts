import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
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

const CHECKOUT = fileURLToPath(new URL('../../../../../', import.meta.url));

/** The stack that runs on DATA_DIR. If there is none, prints what to do and resolves with null. */
export const runningStack = async (): Promise<StackFiles | null> => {
  const dataDir = resolve(CHECKOUT, process.env.DATA_DIR || '.data');
  try {
    const stack = readStackFiles(dataDir);
    const { statusCode, body } = await request(`${stack.baseUrl}/health`, { signal: AbortSignal.timeout(3_000) });
    await body.dump();
    if (statusCode === 200) return stack;
  } catch {
    // Reported below.
  }
  console.error(
    `no stack is running on ${dataDir}: run "npm start" in another terminal first (or set DATA_DIR to its folder)`,
  );
  return null;
};

/** The stack that all acceptance tests share. */
export const sharedStack = (): StackFiles => {
  const dataDir = process.env.ACCEPTANCE_DATA_DIR;
  if (!dataDir) throw new Error('no stack is running: run these tests as the jest project "acceptance"');
  return readStackFiles(dataDir);
};
