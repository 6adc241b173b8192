import { type Stack, startStack } from './stack.ts';

/** Starts the stack that all acceptance tests share. Each test file uses its own merchants. */
export default async (): Promise<void> => {
  // Short delays, so that tests wait little for retries.
  const stack = await startStack({
    databaseRoles: true,
    env: { CHAIN: 'on', WEBHOOK_RETRY_SECONDS: '1,1,1,2,2,5,5' },
  });
  process.env.ACCEPTANCE_DATA_DIR = stack.dataDir;
  (globalThis as { acceptanceStack?: Stack }).acceptanceStack = stack;
};
