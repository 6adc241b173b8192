import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { writeJson } from './write-file.ts';

/** Base URL and API key of the demo merchant. */
const Sandbox = z.object({ base_url: z.string(), merchant_id: z.string(), api_key: z.string() });
export type Sandbox = z.infer<typeof Sandbox>;

const FILE = 'sandbox.json';

/** Reads the file of an earlier start, or returns null. */
export const readSandbox = (folder: string): Sandbox | null => {
  const file = join(folder, FILE);
  return existsSync(file) ? Sandbox.parse(JSON.parse(readFileSync(file, 'utf8'))) : null;
};

export const writeSandbox = (folder: string, sandbox: Sandbox): void => writeJson(join(folder, FILE), sandbox, 0o600);
