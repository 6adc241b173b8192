import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { readStackFiles, type StackFiles } from './stack-files.ts';

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
