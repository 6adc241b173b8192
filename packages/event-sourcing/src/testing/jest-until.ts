import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `look` resolves to something true. */
export const until = async (look: () => unknown): Promise<void> => {
  while (!(await look())) await sleep(5);
};
