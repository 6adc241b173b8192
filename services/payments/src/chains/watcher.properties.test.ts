import fc from 'fast-check';
import { MONEY, REQUIRED, settle, steps } from '../testing/jest-chain-histories.ts';
import { chainProcesses } from '../testing/jest-chain-process.ts';
import { simulatedChain } from '../testing/jest-simulated-chain.ts';

const RUNS = process.env.EXTENDED ? 3_000 : 150;

test('any history gives the payments of the final chain, and marks all others as failed', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (history) => {
      const chain = simulatedChain();
      chain.mineMany(12);
      const watching = chainProcesses(chain, { required: REQUIRED });
      await watching.readOn();
      for (const step of history) await step(chain, watching);
      await settle(chain, watching);

      const onChain = new Set(chain.transfers().map(({ id }) => id));
      for (const transfer of MONEY) {
        const payment = watching.paymentOf(transfer);
        if (onChain.has(transfer.id))
          expect(payment).toMatchObject({ status: 'applied', amountMinor: transfer.units, address: transfer.address });
        else expect(payment?.status ?? 'failed').toBe('failed');
      }
      expect(watching.tables.transfers().filter(({ pending }) => pending)).toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
