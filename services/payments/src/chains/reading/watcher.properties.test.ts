import fc from 'fast-check';
import { anyLie, MONEY, REQUIRED, settle, type Step, steps } from '../../testing/jest-chain-histories.ts';
import { chainProcesses } from '../../testing/jest-chain-process.ts';
import { simulatedChain } from '../../testing/jest-simulated-chain.ts';

const RUNS = process.env.EXTENDED ? 800 : 100;

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

test('whatever a node left out, invented or multiplied, each transfer ends as one payment with its amount', async () => {
  const rescan = fc.constant<Step>((_, watching) => watching.tables.requestRescan(1));
  await fc.assert(
    fc.asyncProperty(
      anyLie,
      fc.array(fc.oneof({ weight: 9, arbitrary: steps }, { weight: 1, arbitrary: rescan }), { maxLength: 40 }),
      async (lie, history) => {
        const chain = simulatedChain();
        chain.mineMany(12);
        const watching = chainProcesses(chain, { required: REQUIRED, recheckDepth: REQUIRED });
        await watching.readOn();
        chain.setLie(lie());
        for (const step of history) await step(chain, watching);
        await settle(chain, watching);
        chain.setLie(null);
        chain.mineMany(REQUIRED);
        // Each call reads up to 16 blocks once more.
        for (let n = 0; n < 12; n += 1) await watching.readOn();

        const onChain = chain.transfers().map(({ txHash, units, address }) => [txHash, units, address, 'applied']);
        const paid = watching
          .payments()
          .filter(({ status }) => status !== 'failed')
          .map(({ txHash, amountMinor, address, status }) => [txHash, amountMinor, address, status]);
        expect(paid.toSorted()).toEqual(onChain.toSorted());
        expect(watching.tables.transfers().filter(({ pending }) => pending)).toEqual([]);
      },
    ),
    { numRuns: RUNS },
  );
});
