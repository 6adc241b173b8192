import type { Stack } from './stack.ts';

export default async (): Promise<void> => {
  await (globalThis as { acceptanceStack?: Stack }).acceptanceStack?.stop();
};
