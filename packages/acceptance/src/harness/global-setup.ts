import { type Stack, startStack } from './stack.ts';

/** Starts the one stack that the acceptance tests share. Each test file has a merchant of its own on it. */
export default async (): Promise<void> => {
  // A second attempt comes soon, so that nobody waits for it.
  const stack = await startStack({ env: { WEBHOOK_RETRY_SECONDS: '1,1,1,2,2,5,5' } });
  process.env.ACCEPTANCE_DATA_DIR = stack.dataDir;
  (globalThis as { acceptanceStack?: Stack }).acceptanceStack = stack;
};
