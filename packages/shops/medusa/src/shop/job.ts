import { getRuntime } from './runtime.ts';
import { hadFailure } from './take-order.ts';

/** Starts the look-up of missed payments in each process: the first run comes within a minute of the start. Later runs
 *  take again what Medusa could not take, so that it does not wait for the gateway, whose attempts come less and less
 *  often. */
export const job = {
  config: { name: 'crypto-payments', schedule: '* * * * *' },
  default: async (): Promise<void> => {
    const { shop } = getRuntime();
    shop.start();
    if (hadFailure()) await shop.lookUp();
  },
};
